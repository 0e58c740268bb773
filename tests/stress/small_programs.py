"""Programs of Debian that programs_of_others.py runs for a second or less each: name -> (command, package, prepare script).
A table; the directory of a run has the files that FILES makes."""

FILES = r"""seq 1 40000 | awk '{ print $1 * 7919 % 40009, "word" $1 % 997, ($1 % 13 ? "the quick brown fox" : "a77b") }' >text
head -c 300000 text >part; sed 's/word12/other/' part >other; sort -k2,2 part >sorted; printf 'int f(int a) { return a * 7; }\nint main(void) { int s = 0; for (int i = 0; i < 9; ++i) s += f(i); return s & 1; }\n' >a.c
"""

CPP = r"""cat >a.cpp <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
#include <iostream>
int main() { std::map<std::string, std::vector<int>> m; for (int i = 0; i < 99; ++i) m[std::to_string(i % 7)].push_back(i);
for (auto& [k, v] : m) { std::sort(v.rbegin(), v.rend()); std::cout << k << v[0] << '\n'; } }
END"""

RUST = r"""cat >a.rs <<'END'
use std::collections::HashMap;
fn main() { let mut m: HashMap<u64, Vec<u64>> = HashMap::new(); for i in 0..1000u64 { m.entry(i % 7).or_default().push(i); }
let mut s: Vec<u64> = m.values().map(|v| v.iter().sum()).collect(); s.sort(); println!("{:?}", s); }
END"""

GO = r"""cat >a.go <<'END'
package main
import ("fmt"; "sort"; "strings"; "sync"; "runtime")
type node struct { left, right *node; n int }
func tree(d int) *node { if d == 0 { return &node{n: 1} }; return &node{tree(d - 1), tree(d - 1), d} }
func (t *node) sum() int { if t == nil { return 0 }; return t.n + t.left.sum() + t.right.sum() }
func caught(p *node) (r int) { defer func() { if recover() != nil { r = 1 } }(); return p.n }
func main() {
 var w sync.WaitGroup; out := make([]int, 8)
 for g := 0; g < 8; g++ { w.Add(1); go func(g int) { defer w.Done(); for i := 0; i < 20; i++ { out[g] += tree(12 + g % 2).sum(); runtime.Gosched() } }(g) }
 w.Wait(); m := map[string]int{}; for i := 0; i < 200000; i++ { m[fmt.Sprint(i % 997)] += i }
 k := make([]string, 0); for s := range m { k = append(k, s) }; sort.Strings(k); c := 0; for i := 0; i < 10000; i++ { c += caught(nil) }
 fmt.Println(out, len(strings.Join(k, ",")), m["7"], c)
}
END
cd . && GOFLAGS=-mod=mod GOCACHE=${TMPDIR:-/tmp}/go-cache go build -o a a.go"""

OCAML = """let rec fib n = if n < 2 then 1 else fib (n - 1) + fib (n - 2)
exception E of int
module M = Map.Make (String)
let () = let m = ref M.empty in for i = 0 to 60000 do m := M.add (string_of_int (i mod 997)) i !m done;
  let c = ref 0 in for i = 0 to 300000 do (try if i mod 3 = 0 then raise (E i) with E n -> c := !c + n) done;
  Printf.printf "%d %d %d\\n" (fib 27) (M.cardinal !m) !c"""

FORTRAN = """program a
 integer :: i, j
 real(8) :: s, m(200,200)
 s = 0
 do i = 1, 200
  do j = 1, 200
   m(i,j) = sin(real(i * j, 8))
  end do
 end do
 do i = 1, 20
  s = s + sum(matmul(m, transpose(m)))
 end do
 print '(F20.6)', s
end program"""

HASKELL = """import qualified Data.Map as M
main = do
  let m = foldr (\\i -> M.insertWith (+) (i `mod` 997) i) M.empty [1 .. 100000 :: Int]
  print (M.foldl' (+) 0 m, M.size m, length (filter even (map fib [1 .. 24])))
fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)"""

PHP = "function f($n) { return $n < 2 ? $n : f($n - 1) + f($n - 2); } $a = []; for ($i = 0; $i < 200000; ++$i) { $a['k' . $i % 997] = ($a['k' . $i % 997] ?? 0) + $i; } $c = 0; for ($i = 0; $i < 50000; ++$i) try { if ($i % 3 == 0) throw new Exception('x'); } catch (Exception $e) { ++$c; } usort($a, fn($x, $y) => $y <=> $x); echo f(22), ' ', $a[0], ' ', $c, ' ', preg_match_all('/a+b/', str_repeat('aab', 9999)), ' ', md5(serialize($a)), PHP_EOL;"
RUBY = "def f(n) = n < 2 ? n : f(n - 1) + f(n - 2)\nh = Hash.new(0); 150000.times { |i| h[i % 997] += i }\nc = 0; 30000.times { |i| begin; raise 'x' if i % 3 == 0; rescue; c += 1; end }\nt = 4.times.map { |k| Thread.new { (1..20000).sum { |i| i * k % 7 } } }.map(&:value)\ng = Fiber.new { 9.times { |i| Fiber.yield i } }\nGC.start\nputs f(20), h[7], c, t.inspect, g.resume + g.resume, ('aab' * 9999).scan(/a+b/).size"
GUILE = "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (define h (make-hash-table)) (do ((i 0 (+ i 1))) ((= i 50000)) (hash-set! h (modulo i 997) i)) (define c 0) (do ((i 0 (+ i 1))) ((= i 5000)) (catch 'e (lambda () (throw 'e)) (lambda x (set! c (+ c 1))))) (display (list (fib 20) (hash-ref h 7) c (expt 3 200))) (newline)"
TCL = "proc fib n { expr {$n < 2 ? $n : [fib [expr {$n-1}]] + [fib [expr {$n-2}]]} }\nfor {set i 0} {$i < 60000} {incr i} { incr a([expr {$i % 997}]) $i }\nset c 0; for {set i 0} {$i < 5000} {incr i} { if {[catch {error x}]} {incr c} }\nputs \"[fib 18] $a(7) $c [regexp -all {a+b} [string repeat aab 9999]]\""
LISP = "(progn (defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (let ((h (make-hash-table)) (c 0)) (dotimes (i 200000) (incf (gethash (mod i 997) h 0) i)) (dotimes (i 20000) (handler-case (error \"x\") (error () (incf c)))) (gc) (format t \"~a ~a ~a~%\" (fib 24) (gethash 7 h) c)))"
ELISP = "(progn (defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (let ((h (make-hash-table)) (c 0)) (dotimes (i 50000) (puthash (% i 997) (+ i (gethash (% i 997) h 0)) h)) (dotimes (i 5000) (condition-case nil (error \"x\") (error (setq c (1+ c))))) (garbage-collect) (princ (format \"%d %d %d\\n\" (fib 18) (gethash 7 h) c))))"
ERLANG = "F = fun F(N) when N < 2 -> N; F(N) -> F(N-1) + F(N-2) end, S = self(), [spawn(fun() -> S ! {K, F(17)} end) || K <- lists:seq(1, 8)], R = [receive {K, V} -> V end || K <- lists:seq(1, 8)], M = lists:foldl(fun(I, A) -> maps:update_with(I rem 97, fun(X) -> X + I end, I, A) end, #{}, lists:seq(1, 20000)), io:format(\"~p ~p~n\", [R, maps:get(7, M)]), halt()."
OCTAVE = "a = reshape(mod((1:250000) * 7919, 1009), 500, 500); b = a * a'; s = 0; for i = 1:20000 s += mod(i * 7, 13); end; c = 0; for i = 1:500 try error('x'); catch c++; end; end; printf('%g %d %d %g\\n', sum(b(:)), s, c, norm(a, 1))"
R = "f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2); s <- 0; for (i in 1:200000) s <- s + i %% 7; c <- 0; for (i in 1:2000) tryCatch(stop('x'), error = function(e) c <<- c + 1); m <- matrix((1:40000) %% 97, 200); cat(f(18), s, c, sum(m %*% t(m)), coef(lm(dist ~ speed, cars)), '\\n')"
PROLOG = "nrev([],[]). nrev([H|T],R) :- nrev(T,X), append(X,[H],R). go :- numlist(1,300,L), between(1,20,N), nrev(L,R), N >= 20, !, sum_list(R,S), catch(throw(x),x,true), write(S), nl."
PASCAL = "program a; var i, s: longint; function f(n: longint): longint; begin if n < 2 then f := n else f := f(n - 1) + f(n - 2); end; begin s := 0; for i := 1 to 3000000 do s := (s * 31 + i) mod 1000003; writeln(f(27), ' ', s); end."
VIM = "for i in range(3000) | call append('$', repeat(nr2char(97 + i % 26), i % 40)) | endfor | %s/\\(a\\|e\\)\\+/X\\1/ge | sort u | g/zz/d | w! out | qa!"
DOT = "digraph g { " + " ".join(f"n{i} -> n{(i * 7 + 1) % 60}; n{i} -> n{(i * 11 + 3) % 60};" for i in range(60)) + " }"
XML = r"""python3 -c "print('<r>' + ''.join('<e id=\"%d\"><n>name%d</n><v>%d</v></e>' % (i, i % 97, i * 7919 % 1009) for i in range(9000)) + '</r>')" >a.xml
printf '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><o><xsl:for-each select="//e[v mod 7 = 0]"><xsl:sort select="v" data-type="number"/><x><xsl:value-of select="concat(n, v)"/></x></xsl:for-each></o></xsl:template></xsl:stylesheet>' >a.xsl"""
JSON = r"""awk 'BEGIN { printf "["; for (i = 0; i < 20000; ++i) printf "%s{\"a\":%d,\"b\":\"n%d\",\"c\":[%d,null]}", i ? "," : "", i, i % 97, i * 7; print "]" }' >a.json"""
KEY = "openssl genrsa -out key.pem 2048 2>/dev/null; openssl req -x509 -key key.pem -subj /CN=a -days 9999 -out cert.pem 2>/dev/null"
OBJECT = "gcc -O1 -g -c a.c; gcc -g -o a a.c; cp /usr/bin/perl big"
GIT = "git init -q r 2>/dev/null; cd r; git config user.email a@b; git config user.name a; for i in $(seq 30); do seq $i 3000 >f$((i % 4)); git add .; GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000' git commit -qm $i; done"
GPG = "mkdir -m 700 home; gpg --homedir home --batch --passphrase '' --quick-gen-key a@b rsa2048 sign never 2>/dev/null; gpgconf --homedir home --kill all"


def table():
    sh = lambda script: ["sh", "-c", script]
    return {
        # coreutils and their like
        "ls": (["ls", "-lR", "--time-style=+%s", "/usr/share/perl"], "coreutils"),
        "du": (["du", "-ab", "/usr/share/perl"], "coreutils"),
        "find": (["find", "/usr/share/perl", "-name", "*.pm", "-size", "+3k", "-printf", "%p %s\n"], "findutils"),
        "find-exec": (["find", "/usr/share/perl/", "-name", "[A-C]*.pm", "-exec", "wc", "-l", "{}", ";"], "findutils"),
        "xargs": (["xargs", "-a", "text", "-n", "2000", "-P", "1", "printf", "%.3s"], "findutils"),
        "wc": (["wc", "text", "part"], "coreutils"),
        "sha256sum": (["sha256sum", "big", "text"], "coreutils", OBJECT),
        "md5sum": (["md5sum", "big", "text"], "coreutils", OBJECT),
        "b2sum": (["b2sum", "big"], "coreutils", OBJECT),
        "tac": (["tac", "text"], "coreutils"),
        "sort-numbers": (["sort", "-n", "text"], "coreutils"),
        "shuf": (["shuf", "--random-source=text", "text"], "coreutils"),
        "join": (["join", "-1", "2", "-2", "2", "sorted", "sorted2"], "coreutils", "head -500 sorted >sorted2"),
        "comm": (["comm", "-12", "sorted", "sorted"], "coreutils"),
        "cut": (["cut", "-d", " ", "-f", "1,3-", "text"], "coreutils"),
        "uniq": (["uniq", "-c", "-f", "1", "sorted"], "coreutils"),
        "nl": (["nl", "-ba", "text"], "coreutils"),
        "od": (["od", "-tx1z", "part"], "coreutils"),
        "seq": (["seq", "-f", "%.3f", "1", "200000"], "coreutils"),
        "factor": (["factor", "1000000007000000049", "600851475143", "18446744073709551557"], "coreutils"),
        "split": (["split", "-l", "100", "--filter=cat", "text"], "coreutils"),
        "timeout": (["timeout", "20", "sort", "-k2", "text"], "coreutils"),
        "dd": (["dd", "if=text", "bs=1", "count=100000", "status=none"], "coreutils"),
        "grep": (["grep", "-cE", "(word1[0-9]+) .*\\1|7{2,3}", "text"], "grep"),
        "grep-words": (["grep", "-rhow", "sub [a-z]*", "/usr/share/perl", "--include=C*.pm"], "grep"),
        "sed": (["sed", "-E", "s/word([0-9])([0-9]+)/\\2-\\1/g; /77/d; y/abc/xyz/", "text"], "sed"),
        "gawk": (["gawk", "{ n += NF; c[$2]++; if (match($0, /7.*q/)) m += RLENGTH } END { for (k in c) s += c[k] * length(k); print n, m, s }", "text"], "gawk"),
        "mawk": (["mawk", "{ n += NF; c[$2]++; if (match($0, /7.*q/)) m += RLENGTH } END { for (k in c) s += c[k] * length(k); print n, m, s }", "text"], "mawk"),
        "diff": (["diff", "part", "other"], "diffutils"),
        "cmp": (["cmp", "-l", "part", "sorted"], "diffutils"),
        "patch": (sh("diff -u part other >p; patch -s -o - part p | md5sum"), "patch"),
        "tar": (["tar", "-cf", "-", "--sort=name", "--mtime=@0", "-C", "/usr/share", "perl"], "tar"),
        "tar-z": (sh("tar -cf - --sort=name --mtime=@0 -C /usr/share perl/5.36.0/unicore | gzip -n | md5sum"), "tar"),
        "cpio": (sh("find /usr/share/perl -name 'A*' | sort | cpio -o -H newc --reproducible --quiet 2>/dev/null | md5sum"), "cpio"),
        "file": (["file", "-b", "big", "text", "a.c"], "file", OBJECT),
        "dash": (["dash", "-c", "i=0; s=; while [ $i -lt 60000 ]; do i=$((i + 1)); case $i in *77) s=$s$i;; esac; done; echo $s; for i in 1 2 3 4 5 6 7 8 9; do x=$(echo $i; exit $i); echo $x $?; done"], "dash"),
        "zsh": (["zsh", "-fc", "s=0; for ((i = 0; i < 60000; ++i)); do ((s += i % 7)); a[i%97+1]=$i; done; echo $s ${a[5]} $(echo sub | tr a-z A-Z)"], "zsh"),
        "busybox": (["busybox", "awk", "{ c[$2] += $1 } END { for (k in c) s += c[k]; print s }", "text"], "busybox"),
        "busybox-sort": (["busybox", "sort", "-k2", "part"], "busybox"),
        "bc": (["bc", "-q", "a.bc"], "bc", "printf 'scale=300\n4*a(1)\nfor (i = 0; i < 30000; ++i) s += i^2\ns\nquit\n' >a.bc; sed -i s/a.1./sqrt\\(2\\)/ a.bc"),
        "dc": (["dc", "-e", "7 1000 ^ 13 997 ^ * 1009 % p 2 3000 ^ p"], "dc"),
        "m4": (["m4", "a.m4"], "m4", "printf \"define(\\`f', \\`ifelse(\\$1, 0, \\`', \\`\\$1 f(decr(\\$1))')')f(900)\n\" >a.m4"),
        "ed": (sh("printf 'g/7/s/o/0/g\n1,$p\nQ\n' | ed -s part | md5sum"), "ed"),
        "units": (["units", "-t", "3 furlongs/fortnight", "m/s"], "units"),
        # packers
        "gzip": (["gzip", "-nc", "text", "part"], "gzip"),
        "gunzip": (["gzip", "-dc", "text.gz"], "gzip", "gzip -nk text"),
        "bzip2": (["bzip2", "-c", "part"], "bzip2"),
        "xz-2": (["xz", "-T2", "--block-size=200000", "-2c", "text"], "xz-utils"),
        "unxz": (["xz", "-dc", "text.xz"], "xz-utils", "xz -1k text"),
        "zstd": (["zstd", "-qc", "-9", "-T2", "text"], "zstd"),
        "lz4": (["lz4", "-qc", "-9", "text"], "lz4"),
        "brotli": (["brotli", "-c", "-q", "8", "text"], "brotli"),
        "7z": (sh("7z a -bd -mx=3 -mmt=2 x.7z text >/dev/null; 7z x -so x.7z | md5sum"), "p7zip-full"),
        "zip": (sh("zip -qX x.zip text part && unzip -p x.zip | md5sum"), "zip"),
        # compilers and their tools
        "gcc-small": (["gcc", "-O2", "-S", "-o", "-", "a.c"], "gcc"),
        "cc1": (["/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "-quiet", "-O2", "a.c", "-o", "-"], "gcc-12"),
        "g++": (["g++", "-O1", "-S", "-o", "-", "a.cpp"], "g++", CPP),
        "clang": (["clang", "-O2", "-S", "-o", "-", "a.c"], "clang"),
        "tcc": (["tcc", "-run", "b.c"], "tcc", "printf '#include <stdio.h>\nint f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nint main() { printf(\"%%d\\\\n\", f(32)); return 3; }\n' >b.c"),
        "as": (sh("gcc -O2 -S -o a.s a.c; as -o a.o a.s; cksum <a.o"), "binutils"),
        "ld": (sh("gcc -g -c a.c; ld -e main -o x a.o; cksum <x"), "binutils", ""),
        "nm": (["nm", "-an", "/usr/lib/x86_64-linux-gnu/libc.a"], "libc6-dev"),
        "objdump": (["objdump", "-d", "--start-address=0x60000", "--stop-address=0x90000", "big"], "binutils", OBJECT),
        "readelf": (["readelf", "-aW", "big"], "binutils", OBJECT),
        "strip": (sh("cp big x; strip x; cksum <x; ar rc y.a a.o x; cksum <x"), "binutils", OBJECT),
        "make-many": (["make", "-s", "-j2"], "make", "{ printf 'all:'; for i in $(seq 60); do printf ' t%d' $i; done; echo; for i in $(seq 60); do printf 't%d:\n\t@echo $$((%d * 7)) >t%d; [ %d != 60 ] || cat t1 t30\n' $i $i $i $i; done; } >Makefile; printf 'all: \n.NOTPARALLEL:\n' >>Makefile"),
        "cmake": (["cmake", "-P", "a.cmake"], "cmake", "printf 'set(s 0)\nforeach(i RANGE 20000)\nmath(EXPR s \"${s} + ${i} %% 7\")\nendforeach()\nstring(SHA256 h \"${s}\")\nexecute_process(COMMAND seq 5 OUTPUT_VARIABLE o)\nexecute_process(COMMAND ${CMAKE_COMMAND} -E echo \"${s} ${h} ${o}\")\n' >a.cmake"),
        "valgrind": (["valgrind", "-q", "wc", "-l", "part"], "valgrind"),
        # languages
        "node-small": (["node", "-e", "let s = 0; const m = new Map(); for (let i = 0; i < 3e6; i++) { s = (s * 31 + i) | 0; m.set(i % 997, s); } let c = 0; for (let i = 0; i < 9999; i++) try { null.x } catch (e) { c++ } setTimeout(() => console.log(s, m.size, c, require('zlib').deflateSync(Buffer.alloc(1e6, 'ab')).length), 5)"], "nodejs"),
        "java-small": (["java", "-Xmx256m", "a.java"], "default-jdk-headless", "printf 'import java.util.*; public class a { public static void main(String[] x) { long s = 0; Map<Integer, String> m = new TreeMap<>(); for (int i = 0; i < 300000; i++) { s = s * 31 + i; m.put((int) (s & 1023), \"v\" + i); } int c = 0; String n = null; for (int i = 0; i < 20000; i++) try { c += n.length(); } catch (NullPointerException e) { ++c; } System.out.println(s + \" \" + m.size() + \" \" + c); } }\n' >a.java"),
        "go-program": (["./a"], "golang-go", GO),
        "gofmt": (["gofmt", "a.go"], "golang-go", GO.split("cd . &&")[0]),
        "go-build": (sh("GOFLAGS=-mod=mod GOCACHE=${TMPDIR:-/tmp}/go-cache go vet a.go; echo $?"), "golang-go", GO.split("cd . &&")[0]),
        "rustc": (["rustc", "-C", "opt-level=0", "--emit=metadata", "-o", "a.rmeta", "a.rs"], "rustc", RUST),
        "php": (["php", "-n", "-r", PHP], "php-cli"),
        "ruby": (["ruby", "--disable=gems", "-e", RUBY], "ruby"),
        "guile": (["guile", "--no-auto-compile", "-c", GUILE], "guile-3.0"),
        "tclsh": (["tclsh", "a.tcl"], "tcl", "cat >a.tcl <<'END'\n" + TCL + "\nEND"),
        "ocaml": (["ocaml", "a.ml"], "ocaml-nox", "cat >a.ml <<'END'\n" + OCAML + "\nEND"),
        "ocamlopt": (["./a"], "ocaml-nox", "cat >a.ml <<'END'\n" + OCAML + "\nEND\nocamlopt -o a a.ml 2>/dev/null"),
        "erlang": (["erl", "-noshell", "-eval", ERLANG], "erlang-base"),
        "sbcl": (["sbcl", "--noinform", "--no-sysinit", "--no-userinit", "--non-interactive", "--eval", LISP], "sbcl"),
        "ghc-program": (["./a", "+RTS", "-V0.001"], "ghc", "cat >a.hs <<'END'\n" + HASKELL + "\nEND\nghc -v0 -O -rtsopts -threaded a.hs"),
        "gfortran": (["./a"], "gfortran", "cat >a.f90 <<'END'\n" + FORTRAN + "\nEND\ngfortran -O2 -o a a.f90"),
        "fpc": (["./a"], "fpc", "cat >a.pas <<'END'\n" + PASCAL + "\nEND\nfpc -v0 -O2 a.pas >/dev/null 2>&1"),
        "swipl": (["swipl", "-q", "-g", "go", "-t", "halt", "a.prolog"], "swi-prolog", "cat >a.prolog <<'END'\n" + PROLOG + "\nEND"),
        "emacs": (["emacs", "--batch", "-Q", "--eval", ELISP], "emacs-nox"),
        "vim": (["vim", "-u", "NONE", "-i", "NONE", "-es", "-c", VIM], "vim"),
        "lua": (["lua5.4", "-e", "local t, s = {}, 0 for i = 1, 600000 do t[i % 997] = (t[i % 997] or 0) + i end for i = 1, 20000 do if not pcall(error, i) then s = s + 1 end end local co = coroutine.wrap(function() while true do coroutine.yield(1) end end) for i = 1, 50000 do s = s + co() end print(t[7], s, ('aab'):rep(9999):gsub('a+b', ''))"], "lua5.4"),
        "luajit": (["luajit", "-e", "local t, s = {}, 0 for i = 1, 6000000 do t[i % 997] = (t[i % 997] or 0) + i end for i = 1, 20000 do if not pcall(error, i) then s = s + 1 end end print(t[7], s)"], "luajit"),
        "octave": (["octave-cli", "--norc", "--no-history", "--eval", OCTAVE], "octave"),
        "R": (["Rscript", "--vanilla", "-e", R], "r-base-core"),
        "perl-small": (["perl", "-e", "my (%h, $n); for (1..200000) { $h{$_ * 31 % 1009} .= chr 65 + $_ % 26 } for (1..20000) { eval { die { n => $_ } if $_ % 3 == 0; 1 } or $n += $@->{n} } print $n, ' ', length(join '', map { $h{$_} } sort keys %h), ' ', scalar(() = ('aab' x 9999) =~ /a+b/g), \"\\n\""], "perl"),
        "python3-small": (["/usr/bin/python3", "-S", "-c", "import re\nd = {}\nfor i in range(150000): d[i % 997] = d.get(i % 997, 0) + len(str(i))\nc = 0\nfor i in range(9999):\n  try: {}[i]\n  except KeyError: c += 1\nprint(sum(d.values()), c, len(re.findall('a+b', 'aab' * 9999)), sum(x for x in (y * y for y in range(99999))))"], "python3"),
        # media, documents, mathematics
        "ffmpeg": (["ffmpeg", "-v", "error", "-threads", "2", "-bitexact", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=10:duration=3", "-c:v", "mpeg4", "-bitexact", "-f", "md5", "-"], "ffmpeg"),
        "convert": (["convert", "-size", "300x200", "plasma:fractal", "-seed", "7", "-blur", "0x3", "-resize", "50%", "-threshold", "150%", "pgm:-"], "imagemagick"),
        "convert-png": (sh("convert -size 300x200 gradient:red-blue -rotate 30 -sharpen 0x2 rgb:- | md5sum"), "imagemagick"),
        "dot": (["dot", "-Tplain", "a.dot"], "graphviz", f"echo '{DOT}' >a.dot"),
        "gnuplot": (["gnuplot", "-e", "set terminal dumb; set samples 2000; plot sin(x)*x, x**2; set terminal svg; set isosamples 60; splot sin(x*y)"], "gnuplot-nox", "", "Produced by|Gnuplot"),
        "xmllint": (["xmllint", "--xpath", "sum(//e[v mod 7 = 0]/v)", "a.xml"], "libxml2-utils", XML),
        "xsltproc": (["xsltproc", "a.xsl", "a.xml"], "xsltproc", XML),
        "jq": (["jq", "-c", "map(select(.a % 7 == 0)) | group_by(.b) | map({(.[0].b): length, s: (map(.c[0]) | add)})", "a.json"], "jq", JSON),
        "man": (sh("MANWIDTH=78 man -P cat -l a.1 | md5sum"), "man-db", "printf '.TH A 1\n' >a.1; for i in $(seq 900); do printf '.SH S%d\nText of \\\\fBsection\\\\fR %d.\n.PP\nMore words here.\n' $i $i >>a.1; done"),
        # data and network
        "sqlite3-small": (["sqlite3", "a.db", "create table t(a, b); begin; with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) insert into t select i, i * 7919 % 10007 from n; commit; create index x on t(b); select count(*), sum(a), max(b) from t where b > 77; update t set a = a + 1 where b % 3 = 0; select sum(a) from t;"], "sqlite3", "rm -f a.db"),
        "openssl-hash": (["openssl", "dgst", "-sha3-256", "big"], "openssl", OBJECT),
        "openssl-enc": (["openssl", "enc", "-aes-256-ctr", "-K", "00" * 32, "-iv", "00" * 16, "-in", "text", "-a"], "openssl"),
        "openssl-sign": (sh("for i in 1 2 3 4 5; do openssl dgst -sha256 -sign key.pem text >s; openssl dgst -sha256 -verify pub -signature s text; done"), "openssl", KEY + "; openssl rsa -in key.pem -pubout -out pub 2>/dev/null"),
        "ssh-keygen": (sh("ssh-keygen -q -t ed25519 -N '' -f k </dev/null; ssh-keygen -y -f k | cut -c1-20; ssh-keygen -q -t rsa -b 1024 -N '' -f l; echo $?"), "openssh-client"),
        "gpg": (sh("gpg --homedir home --batch --passphrase '' --pinentry-mode loopback -b -o s text 2>/dev/null; gpg --homedir home --verify s text 2>/dev/null; echo $?; gpgconf --homedir home --kill all"), "gpg", GPG),
        "git-log": (["git", "-C", "r", "log", "-p", "--format=%s"], "git", GIT),
        "git-gc": (sh("cd r; git gc -q --aggressive; git fsck 2>&1; git rev-list --all --objects | md5sum"), "git", GIT),
        "git-blame": (["git", "-C", "r", "blame", "-s", "f3"], "git", GIT),
        "dpkg": (["dpkg", "-L", "perl-modules-5.36"], "dpkg"),
        "dpkg-query": (["dpkg-query", "-W", "-f", "${Package} ${Version} ${Installed-Size}\n"], "dpkg"),
        "apt-cache": (["apt-cache", "depends", "perl", "git", "gcc"], "apt"),
        "ps": (sh("ps -o pid= -p 1; top -b -n 1 -p 1 | wc -l"), "procps"),
    }
