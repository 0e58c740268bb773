#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace sp::core {

/// A vector whose elements never move, in pieces of `kPiece` elements. std::deque has two of 200
/// bytes in a piece: copying thousands takes longer than what a forked child lives.
template <typename Element, std::size_t kPiece = 128>
class StableVector {
 public:
  StableVector() = default;
  explicit StableVector(std::size_t size) {
    while (size-- > 0) {
      emplace_back();
    }
  }
  StableVector(StableVector&&) noexcept = default;
  StableVector& operator=(StableVector&&) noexcept = default;
  StableVector(const StableVector& other) {
    pieces_.reserve(other.pieces_.size());
    for (const Piece& piece : other.pieces_) {
      pieces_.emplace_back().reserve(kPiece);
      pieces_.back().insert(pieces_.back().end(), piece.begin(), piece.end());
    }
  }
  StableVector& operator=(const StableVector& other) {
    *this = StableVector(other);
    return *this;
  }
  ~StableVector() = default;

  [[nodiscard]] std::size_t size() const {
    return pieces_.empty() ? 0 : (pieces_.size() - 1) * kPiece + pieces_.back().size();
  }
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  [[nodiscard]] Element& operator[](std::size_t number) {
    return pieces_[number / kPiece][number % kPiece];
  }
  [[nodiscard]] const Element& operator[](std::size_t number) const {
    return pieces_[number / kPiece][number % kPiece];
  }
  [[nodiscard]] Element& back() { return pieces_.back().back(); }
  void push_back(Element element) { emplace_back(std::move(element)); }
  template <typename... Arguments>
  Element& emplace_back(Arguments&&... arguments) {
    if (pieces_.empty() || pieces_.back().size() == kPiece) {
      pieces_.emplace_back().reserve(kPiece);
    }
    return pieces_.back().emplace_back(std::forward<Arguments>(arguments)...);
  }

  template <typename Vector, typename Value>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Iterator() = default;
    Iterator(Vector* vector, std::size_t number) : vector_(vector), number_(number) {}
    reference operator*() const { return (*vector_)[number_]; }
    pointer operator->() const { return &(*vector_)[number_]; }
    Iterator& operator++() {
      ++number_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++number_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Vector* vector_ = nullptr;
    std::size_t number_ = 0;
  };
  [[nodiscard]] auto begin() { return Iterator<StableVector, Element>(this, 0); }
  [[nodiscard]] auto end() { return Iterator<StableVector, Element>(this, size()); }
  [[nodiscard]] auto begin() const { return Iterator<const StableVector, const Element>(this, 0); }
  [[nodiscard]] auto end() const {
    return Iterator<const StableVector, const Element>(this, size());
  }

 private:
  using Piece = std::vector<Element>;  // with room for kPiece: it never moves its elements
  std::vector<Piece> pieces_;
};

}  // namespace sp::core
