#include "arch/relation.h"

namespace sp::arch {

Relation opposite(Relation relation) {
  switch (relation) {
    case Relation::above:
      return Relation::below_or_equal;
    case Relation::above_or_equal:
      return Relation::below;
    case Relation::below:
      return Relation::above_or_equal;
    case Relation::below_or_equal:
      return Relation::above;
    case Relation::greater:
      return Relation::less_or_equal;
    case Relation::greater_or_equal:
      return Relation::less;
    case Relation::less:
      return Relation::greater_or_equal;
    case Relation::less_or_equal:
      return Relation::greater;
    case Relation::equal:
      return Relation::not_equal;
    case Relation::not_equal:
      return Relation::equal;
    case Relation::other:
      return Relation::other;
  }
  return Relation::other;
}

}  // namespace sp::arch
