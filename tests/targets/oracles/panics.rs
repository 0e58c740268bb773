// Calls, closures and panics of Rust, with known numbers.
use std::hint::black_box;
use std::panic::catch_unwind;

#[inline(never)]
fn fib(n: u64) -> u64 {
    if n < 2 {
        n
    } else {
        black_box(fib(n - 1)) + black_box(fib(n - 2))
    }
}

#[inline(never)]
fn leaf(value: u64) -> u64 {
    black_box(value) + 1
}

struct Guard(u64);

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(leaf(self.0));
    }
}

#[inline(never)]
fn panics(n: u64) -> u64 {
    if n % 2 == 1 {
        panic!("odd");
    }
    leaf(n)
}

#[inline(never)]
fn passes(n: u64) -> u64 {
    let _guard = Guard(n);
    black_box(panics(n)) + 1
}

#[inline(never)]
fn catches(n: u64) -> u64 {
    catch_unwind(|| passes(n)).unwrap_or(0)
}

#[inline(never)]
fn calls_back(times: u64, body: &dyn Fn(u64) -> u64) -> u64 {
    (0..times).map(|i| black_box(body(i))).sum()
}

#[inline(never)]
fn twice<T: Copy + std::ops::Add<Output = T>>(value: T) -> T {
    black_box(value) + black_box(value)
}

trait Shape {
    fn sides(&self) -> u64;
}

struct Square;

impl Shape for Square {
    #[inline(never)]
    fn sides(&self) -> u64 {
        leaf(3)
    }
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut sum = fib(7);
    for n in 0..6 {
        sum += catches(n);
    }
    sum += calls_back(12, &|n| leaf(n) + leaf(n));
    sum += twice(5u64) + u64::from(twice(7u32));
    let shape: Box<dyn Shape> = Box::new(Square);
    for _ in 0..4 {
        sum += shape.sides();
    }
    println!("{sum}");
}
