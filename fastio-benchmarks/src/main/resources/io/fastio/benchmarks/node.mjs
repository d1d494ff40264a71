// Node as a subject: answers requests from standard input, one line each. See Subject.java for their meaning.
import http from 'node:http';
import net from 'node:net';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

const TIMERS = 3, TIMER_MS = 30, HOGS = 10, HOG_MS = 10;
const nanos = () => Number(process.hrtime.bigint());

// Times a ring that takes turns in FIFO order; see Lap.java.
class Lap {
  constructor(tasks, millis) {
    this.tasks = tasks;
    this.nanos = millis * 1e6;
    this.perLook = Math.max(1, Math.floor(2000 / tasks));
    this.left = this.perLook * 2;
    this.rounds = -1;
    this.running = true;
  }
  more() {
    return --this.left > 0 || this.look();
  }
  look() {
    this.left = this.perLook;
    if (this.rounds < 0) {
      this.rounds = 0;
      this.start = nanos();
      return true;
    }
    this.rounds += this.perLook;
    this.elapsed = nanos() - this.start;
    this.running = this.elapsed < this.nanos;
    return this.running;
  }
  reading() {
    return [`= ns=${this.elapsed / (this.rounds * this.tasks)}`];
  }
}

const samples = values => (values.length ? ['# ' + values.join(' ')] : []);
const turn = () => new Promise(setImmediate);

async function rate(tasks, millis) {
  const lap = new Lap(tasks, millis);
  const first = async () => { while (lap.more()) await turn(); };
  const other = async () => { while (lap.running) await turn(); };
  await Promise.all(Array.from({ length: tasks }, (_, i) => (i === 0 ? first() : other())));
  return lap.reading();
}

function callbacks(millis, arm) {
  const lap = new Lap(1, millis);
  return new Promise(done => {
    const call = () => (lap.more() ? arm(call) : done(lap.reading()));
    call();
  });
}

function block(millis) {
  const until = nanos() + millis * 1e6;
  while (nanos() < until);
}

async function hog(running, millis) {
  while (running()) {
    block(millis);
    await turn();
  }
}

async function timing(millis) {
  const end = nanos() + millis * 1e6;
  const fired = [];
  const timer = async () => {
    while (nanos() < end) {
      const start = nanos();
      await sleep(TIMER_MS);
      if (nanos() < end) fired.push((nanos() - start) / 1e6);
    }
  };
  await Promise.all([
    ...Array.from({ length: TIMERS }, timer),
    ...Array.from({ length: HOGS }, () => hog(() => nanos() < end, HOG_MS)),
  ]);
  return samples(fired);
}

// Another thread is a worker; a message is the way to wake the main one.
function wake(count) {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    const nap = new Int32Array(new SharedArrayBuffer(4));
    const seen = new Int32Array(workerData.seen);
    for (let i = 0; i < workerData.count; i++) {
      const quiet = process.hrtime.bigint() + BigInt(Math.floor(5e5 + Math.random() * 1.5e6));
      Atomics.wait(nap, 0, 0, Number(quiet - process.hrtime.bigint()) / 1e6);
      parentPort.postMessage(process.hrtime.bigint());
      while (Atomics.load(seen, 0) <= i) Atomics.wait(nap, 0, 0, 0.1);
    }`;
  const seen = new SharedArrayBuffer(4);
  return new Promise((done, fail) => {
    const micros = [];
    const worker = new Worker(source, { eval: true, workerData: { count, seen } });
    worker.on('message', sent => {
      micros.push(Number(process.hrtime.bigint() - sent) / 1e3);
      Atomics.add(new Int32Array(seen), 0, 1);
    });
    worker.on('error', fail);
    worker.on('exit', () => done(samples(micros)));
  });
}

async function sleepers(tasks) {
  const late = new Float64Array(tasks * 3);
  let count = 0;
  const start = process.cpuUsage();
  const nap = async () => {
    for (let i = 0; i < 3; i++) {
      const millis = 1 + Math.floor(Math.random() * 1000);
      const begin = nanos();
      await sleep(millis);
      late[count++] = (nanos() - begin) / 1e3 - millis * 1e3;
    }
  };
  await Promise.all(Array.from({ length: tasks }, nap));
  const { user, system } = process.cpuUsage(start);
  late.sort();
  const at = share => late[Math.floor((count - 1) * share)];
  return [
    `= cpu_ns=${((user + system) * 1e3) / count} late_p50_us=${at(0.5)} late_p99_us=${at(0.99)} late_max_us=${at(1)}`,
  ];
}

async function memory(tasks) {
  const before = process.memoryUsage().heapUsed;
  const timers = [];
  const sleeping = Array.from({ length: tasks }, async () => {
    await new Promise(done => timers.push(setTimeout(done, 3600e3)));
  });
  await sleep(500);
  const used = (process.memoryUsage().heapUsed - before) / sleeping.length;
  timers.forEach(clearTimeout);
  return [`= bytes=${used}`];
}

let serving = null;

function serve(server, hogs = 0, hogMillis = 0) {
  return new Promise(done => {
    const running = { yes: true };
    serving = { server, running };
    server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
      for (let i = 0; i < hogs; i++) hog(() => running.yes, hogMillis);
      done([`= port=${server.address().port}`]);
    });
  });
}

function stop() {
  if (serving !== null) {
    serving.running.yes = false;
    serving.server.close();
    serving = null;
  }
  return ['= stopped=1'];
}

async function answer([name, ...args]) {
  const [a, b] = args.map(Number);
  switch (name) {
    case 'rate': return rate(a, b);
    case 'callbacks': return callbacks(a, setImmediate);
    case 'timer_callbacks': return callbacks(a, call => setTimeout(call, 0));
    case 'timing': return timing(a);
    case 'wake': return wake(a);
    case 'sleepers': return sleepers(a);
    case 'memory': return memory(a);
    case 'echo':
      if (args.length === 3 && args[2] !== 'plain') return ['? ' + name];
      return serve(net.createServer({ noDelay: true }, socket => {
        socket.on('error', () => socket.destroy());
        socket.on('data', data => socket.write(data));
      }), a, b / 1e3);
    case 'http':
      return serve(http.createServer((request, response) => {
        response.setHeader('Content-Type', 'text/plain');
        response.setHeader('Content-Length', 6);
        response.end('hello\n');
      }));
    case 'stop': return stop();
    default: return ['? ' + name];
  }
}

console.log(`.Node ${process.version}, setImmediate as yield, default settings`);
for await (const line of readline.createInterface({ input: process.stdin })) {
  let lines;
  try {
    lines = await answer(line.split(/\s+/));
  } catch (failure) {
    lines = ['! ' + failure];
  }
  console.log([...lines, '.'].join('\n'));
}
process.exit(0);
