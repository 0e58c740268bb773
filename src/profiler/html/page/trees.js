// Trees of calls as columns. Node 0 is the root, and what a node calls stands directly behind it.
const isLarge = head.large;
const countArray = (length) => isLarge ? new BigUint64Array(length) : new Float64Array(length);
const zero = isLarge ? 0n : 0;
const asStored = (value) => isLarge ? BigInt(value) : value;

function grown(array, length) {
  const larger = new array.constructor(length);
  larger.set(array);
  return larger;
}

class Tree {
  constructor(func, parent) {
    const count = func.length;
    this.func = func;
    this.parent = parent;
    this.count = count;
    this.depth = new Uint32Array(count);
    this.end = new Uint32Array(count);
    for (let i = 1; i < count; i++) this.depth[i] = this.depth[parent[i]] + 1;
    for (let i = count - 1; i >= 0; i--) {
      this.end[i] = Math.max(this.end[i], i + 1);
      if (i > 0) this.end[parent[i]] = Math.max(this.end[parent[i]], this.end[i]);
    }
  }

  // Sets what ended in each node, and so its total and where its box begins.
  weigh(self) {
    const {count, parent} = this;
    this.self = self;
    this.total = self.slice();
    for (let i = count - 1; i > 0; i--) this.total[parent[i]] += this.total[i];
    this.start = new Float64Array(count);
    const next = new Float64Array(count);
    for (let i = 1; i < count; i++) {
      this.start[i] = next[i] = next[parent[i]];
      next[parent[i]] += Number(this.total[i]);
    }
    return this;
  }
}

// The stacks of the run, and by stack its node and samples.
function readStacks() {
  const bytes = new Bytes('data-stacks');
  let room = 1 << 12, nodes = 1, stacks = 0;
  let func = new Int32Array(room).fill(-1, 0, 1), parent = new Int32Array(room);
  let stackNode = new Uint32Array(room), weight = countArray(room);
  const path = [0];
  while (bytes.hasMore) {
    path.length -= bytes.next();
    for (let left = bytes.next(); left > 0; left--) {
      if (nodes === room) {
        room *= 2;
        func = grown(func, room);
        parent = grown(parent, room);
        stackNode = grown(stackNode, room);
        weight = grown(weight, room);
      }
      func[nodes] = bytes.next();
      parent[nodes] = path.at(-1);
      path.push(nodes++);
    }
    if (stacks === stackNode.length) {
      stackNode = grown(stackNode, stacks * 2);
      weight = grown(weight, stacks * 2);
    }
    stackNode[stacks] = path.at(-1);
    weight[stacks++] = asStored(bytes.next());
  }
  const tree = new Tree(func.slice(0, nodes), parent.slice(0, nodes));
  return {tree, stackNode: stackNode.subarray(0, stacks), weight: weight.subarray(0, stacks)};
}

const recorded = readStacks();
const tree = recorded.tree;

// `weights` are by stack.
function weighStacks(weights) {
  const self = countArray(tree.count);
  for (let i = 0; i < weights.length; i++) self[recorded.stackNode[i]] += weights[i];
  tree.weigh(self);
}
weighStacks(recorded.weight);

// By function: the samples that ended in it, and those of stacks with it, once each.
function sumsByFunction() {
  const self = countArray(functions.length), total = countArray(functions.length);
  const open = new Uint32Array(functions.length), path = [];
  for (let i = 1; i < tree.count; i++) {
    while (path.length && tree.end[path.at(-1)] <= i) open[tree.func[path.pop()]]--;
    const f = tree.func[i];
    self[f] += tree.self[i];
    if (open[f]++ === 0) total[f] += tree.total[i];
    path.push(i);
  }
  return {self, total};
}

// Puts the callees, or the callers, of several nodes together. `split` gives what ends in a group of
// nodes, and its groups by function. What is too narrow to be seen is one box.
const TOO_NARROW = -2, NARROWEST_SHARE = 1 / 20_000;
function mergedTree(group, split) {
  const func = [], parent = [], self = [], waiting = [group];
  const least = Number(group.total) * NARROWEST_SHARE;
  while (waiting.length) {
    const {func: own, at = 0, nodes, weights, total} = waiting.pop();
    const parts = split(nodes, weights, total), here = func.length;
    func.push(own);
    parent.push(at);
    self.push(parts.self);
    if (here > 0 && Number(total) < least && total > parts.self) {
      func.push(TOO_NARROW);
      parent.push(here);
      self.push(total - parts.self);
      continue;
    }
    for (const part of [...parts.groups().values()].reverse()) waiting.push({...part, at: here});
  }
  const values = countArray(self.length);
  self.forEach((value, i) => {
    values[i] = value;
  });
  return new Tree(Int32Array.from(func), Int32Array.from(parent)).weigh(values);
}

function addTo(groups, func, node, weight) {
  let group = groups.get(func);
  if (!group) groups.set(func, group = {func, nodes: [], weights: [], total: zero});
  group.nodes.push(node);
  group.weights.push(weight);
  group.total += weight;
}

// Calls visit(node) for the boxes of a function that are not inside another one of it.
function eachOutermost(func, visit) {
  for (let i = 1; i < tree.count;) {
    if (tree.func[i] === func) visit(i);
    i = tree.func[i] === func ? tree.end[i] : i + 1;
  }
}

function outermostOf(func) {
  const groups = new Map([[func, {func, nodes: [], weights: [], total: zero}]]);
  eachOutermost(func, (node) => {
    if (Number(tree.total[node]) > 0) addTo(groups, func, node, tree.total[node]);
  });
  return groups.get(func);
}

// What a function calls, of all its calls together.
const calleesOf = (func) => mergedTree(outermostOf(func), (nodes) => ({
  self: nodes.reduce((all, node) => all + tree.self[node], zero),
  groups: () => {
    const groups = new Map();
    for (const node of nodes) {
      for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) {
        if (Number(tree.total[i]) > 0) addTo(groups, tree.func[i], i, tree.total[i]);
      }
    }
    return groups;
  },
}));

// What calls it, the nearest first.
const callersOf = (func) => mergedTree(outermostOf(func), (nodes, weights) => ({
  self: nodes.reduce((all, node, i) => all + (tree.parent[node] > 0 ? zero : weights[i]), zero),
  groups: () => {
    const groups = new Map();
    nodes.forEach((node, i) => {
      const caller = tree.parent[node];
      if (caller > 0) addTo(groups, tree.func[caller], caller, weights[i]);
    });
    return groups;
  },
}));
