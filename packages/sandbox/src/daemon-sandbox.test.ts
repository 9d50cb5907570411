import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { protocolVersion, replyKinds, requestKinds } from './frames.ts'
import { remoteSandbox } from './daemon-sandbox.ts'
import type { Sandbox } from './sandbox.ts'
import { SandboxEnded } from './sandbox.ts'

type SentRequest = { type: number; id: number }

/** Handles each request as a hostile daemon. The socket takes any bytes. */
type DaemonAnswer = (request: SentRequest, socket: Socket) => void

function frame(type: number, id: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const header = Buffer.alloc(9)
  header.writeUInt32LE(5 + payload.length)
  header.writeUInt8(type, 4)
  header.writeUInt32LE(id, 5)
  return Buffer.concat([header, payload])
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const ready = frame(replyKinds.ready, 0, u32(protocolVersion))
const exited = Buffer.alloc(13)
const paths = {
  bash: '/bin/bash',
  ripgrep: '/bin/rg',
  state: '/run/shell',
  spill: '/tmp',
  workspace: '/workspace',
}

function readRequests(socket: Socket, answer: DaemonAnswer): void {
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0)) {
      const size = 4 + rest.readUInt32LE(0)
      answer({ type: rest.readUInt8(4), id: rest.readUInt32LE(5) }, socket)
      rest = rest.subarray(size)
    }
  })
}

/** A sandbox whose daemon is this function, at the other end of a socket. */
async function fake({
  hello = ready,
  answer = () => {},
}: {
  hello?: Buffer
  answer?: DaemonAnswer
}) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write(hello)
    readRequests(socket, answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const stream = connect(address.port, '127.0.0.1')
  await once(stream, 'connect')
  const state = { stops: 0 }
  const sandbox = remoteSandbox({
    ...{ id: 'fake', paths, env: {}, spillMax: 1 << 20 },
    stream: { input: stream, output: stream },
    patience: { readyMs: 300, killedMs: 100 },
    async stop() {
      state.stops++
      stream.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  })
  sandbox.catch(() => undefined)
  return { sandbox, stream, state }
}

const shell = (sandbox: Sandbox, timeoutMs = 5_000) => sandbox.shell({ command: 'true', timeoutMs })
const read = (sandbox: Sandbox) => sandbox.read('/workspace/a', { offset: 0, maxBytes: 1000 })

/** Expects that this call and later ones fail, and that the stream and the processes have ended. */
async function endsBy(
  answer: DaemonAnswer,
  call: (sandbox: Sandbox) => Promise<unknown>,
  why: RegExp,
): Promise<void> {
  const { sandbox, stream, state } = await fake({ answer })
  const started = await sandbox
  await assert.rejects(call(started), (error) => error instanceof SandboxEnded)
  assert.match(await started.ended, why)
  await assert.rejects(shell(started), SandboxEnded)
  await assert.rejects(read(started), SandboxEnded)
  await started.close()
  await started.close()
  assert.equal(state.stops, 1)
  assert.ok(stream.destroyed)
}

describe('a sandbox with a hostile daemon', () => {
  const broken = /broke the protocol/

  it('ends at a reply to no request', async () => {
    await endsBy(({ id }, socket) => socket.write(frame(replyKinds.done, id + 7)), shell, broken)
  })

  it('ends at a second ready', async () => {
    await endsBy((_, socket) => socket.write(ready), shell, broken)
  })

  it('ends at a reply of another kind, and at a frame that is none', async () => {
    await endsBy(({ id }, socket) => socket.write(frame(replyKinds.done, id)), shell, broken)
    await endsBy(({ id }, socket) => socket.write(frame(200, id)), shell, broken)
    await endsBy((_, socket) => socket.write(Buffer.alloc(64, 0xff)), shell, broken)
  })

  it('ends at a reply of the wrong size', async () => {
    const short: DaemonAnswer = ({ type, id }, socket) =>
      socket.write(
        frame(type === requestKinds.exec ? replyKinds.exited : replyKinds.done, id, Buffer.of(1)),
      )
    await endsBy(short, shell, broken)
    await endsBy(short, read, broken)
  })

  it('ends at more data than was asked for', async () => {
    const flood: DaemonAnswer = ({ id }, socket) =>
      socket.write(frame(replyKinds.data, id, Buffer.alloc(64 << 10)))
    await endsBy(flood, read, broken)
    const forever: DaemonAnswer = ({ id }, socket) => {
      const pour = () => {
        while (
          !socket.destroyed &&
          socket.write(frame(replyKinds.data, id, Buffer.alloc(64 << 10)))
        );
      }
      socket.on('drain', pour)
      pour()
    }
    await endsBy(forever, shell, broken)
  })

  it('ends at data in crumbs, each of which costs more than its bytes', async () => {
    const crumbs: DaemonAnswer = ({ id }, socket) =>
      socket.write(
        Buffer.concat(Array.from({ length: 200 }, () => frame(replyKinds.data, id, u32(0)))),
      )
    await endsBy(crumbs, read, broken)
    await endsBy(({ id }, socket) => socket.write(frame(replyKinds.data, id)), read, broken)
  })

  it('ends at an output that makes no sense', async () => {
    const heard = { isWanted: () => true, tell: () => {} }
    const output = (sandbox: Sandbox) =>
      sandbox.shell({ command: 'true', timeoutMs: 5_000, output: heard })
    const short: DaemonAnswer = ({ type, id }, socket) => {
      if (type === requestKinds.peek) socket.write(frame(replyKinds.done, id, Buffer.of(1)))
    }
    await endsBy(short, output, broken)
    const untrue: DaemonAnswer = ({ type, id }, socket) => {
      if (type !== requestKinds.peek) return
      socket.write(frame(replyKinds.data, id, Buffer.of(1, 2, 3)))
      socket.write(frame(replyKinds.done, id, Buffer.alloc(16)))
    }
    await endsBy(untrue, output, broken)
  })

  it('ends at a list of files that makes no sense', async () => {
    const list: DaemonAnswer = ({ id }, socket) => {
      socket.write(frame(replyKinds.data, id, Buffer.alloc(30, 0xff)))
      socket.write(frame(replyKinds.done, id, Buffer.of(1)))
    }
    await endsBy(list, (sandbox) => sandbox.walk('/workspace', 10), broken)
  })

  it('ends when the daemon goes away in the middle of a frame', async () => {
    const half: DaemonAnswer = ({ id }, socket) =>
      socket.end(frame(replyKinds.exited, id, exited).subarray(0, 9))
    await endsBy(half, shell, /has ended/)
  })

  it('ends when the daemon is silent after a command ran out of time, or was aborted', async () => {
    await endsBy(
      () => {},
      (sandbox) => shell(sandbox, 10),
      /does not answer/,
    )
    // The signal is created with the call. A signal that was aborted before the call would send the daemon nothing.
    const aborted = (sandbox: Sandbox) =>
      sandbox.shell({ command: 'true', timeoutMs: 60_000, signal: AbortSignal.timeout(10) })
    await endsBy(() => {}, aborted, /does not answer/)
  })

  it('gives up every call under way, writes that wait for room too', async () => {
    const { sandbox, state } = await fake({ answer: (_, socket) => socket.pause() })
    const started = await sandbox
    const calls = [
      ...[shell(started), shell(started), read(started), started.walk('/workspace', 10)],
      started.write('/workspace/a', Buffer.alloc(64 << 20)),
      started.restartShell(),
    ]
    const settled = Promise.allSettled(calls)
    await started.close()
    for (const result of await settled) {
      assert.ok(result.status === 'rejected' && result.reason instanceof SandboxEnded)
    }
    assert.equal(await started.ended, 'closed')
    assert.equal(state.stops, 1)
  })

  for (const [what, hello] of [
    ['says nothing', Buffer.alloc(0)],
    ['speaks another version', frame(replyKinds.ready, 0, u32(protocolVersion + 1))],
    ['answers before it is ready', frame(replyKinds.exited, 1, exited)],
    ['sends text', Buffer.from('bash: sandboxd: cannot execute binary file\n')],
  ] as const) {
    it(`does not start when the daemon ${what}`, async () => {
      const { sandbox, stream, state } = await fake({ hello })
      await assert.rejects(sandbox, SandboxEnded)
      assert.equal(state.stops, 1)
      assert.ok(stream.destroyed)
    })
  }

  it('is given no request that could not be a frame', async () => {
    let asked = 0
    const { sandbox } = await fake({ answer: () => asked++ })
    const started = await sandbox
    for (const path of ['/a\0b', 'relative', '', `/${'a'.repeat(5000)}`]) {
      assert.equal((await started.read(path, { offset: 0, maxBytes: 1 })).ok, false)
      assert.equal((await started.write(path, Buffer.of(1))).ok, false)
      assert.equal((await started.walk(path, 1)).ok, false)
    }
    const result = await started.shell({ command: 'echo a\0b', timeoutMs: 1_000 })
    assert.equal(result.exitCode, 126)
    assert.match(result.output, /NUL/)
    assert.equal(asked, 0)
    await started.close()
  })
})
