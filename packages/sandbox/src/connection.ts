/** Requests and replies over one stream of frames, for all kinds of sandboxes. */
import type { Readable, Writable } from 'node:stream'
import {
  encodeRequest,
  FrameError,
  frameDecoder,
  protocolVersion,
  replyKinds,
  requestKinds,
} from './frames.ts'
import type { Frame, ReplyType, RequestType } from './frames.ts'
import { SandboxEnded } from './sandbox.ts'

export type DaemonStream = { input: Writable; output: Readable }

/** The last frame of a request: of the expected type, or `failed`. */
export type FrameReply = { type: ReplyType; payload: Buffer; data: Buffer[] }

type PendingRequest = {
  expects: ReplyType
  /** Bytes and frames of data that the daemon may still send. Many small frames cost more than their bytes. */
  budget: number
  frames: number
  data: Buffer[]
  resolve: (reply: FrameReply) => void
  reject: (error: Error) => void
}

type RequestParts = Parameters<typeof encodeRequest>[2]

export type DaemonRequest = {
  type: RequestType
  parts: RequestParts
  expects: ReplyType
  budget: number
  /** The daemon counts as dead when it has not answered within this time. */
  withinMs?: number
}

const answerWithinMs = 60_000
/** A daemon that follows the protocol fills all but a few of its frames. */
const leastFilledBytes = 4_096
const unfilledFrames = 16

/** Requests that wait for a reply. A reply without a request is a `FrameError`. */
function createRequests() {
  const pending = new Map<number, PendingRequest>()
  return {
    has: (id: number) => pending.has(id),
    add(
      id: number,
      { expects, budget }: Pick<DaemonRequest, 'expects' | 'budget'>,
    ): Promise<FrameReply> {
      const { promise, resolve, reject } = Promise.withResolvers<FrameReply>()
      const frames = unfilledFrames + budget / leastFilledBytes
      pending.set(id, { expects, budget, frames, data: [], resolve, reject })
      return promise
    },
    receive({ type, id, payload }: Frame): void {
      const request = pending.get(id)
      if (request === undefined) throw new FrameError(`a reply to no request, ${id}`)
      if (type === replyKinds.data) {
        request.budget -= payload.length
        request.frames -= 1
        if (payload.length === 0 || request.budget < 0 || request.frames < 0)
          throw new FrameError('more data than asked for')
        request.data.push(Buffer.from(payload))
        return
      }
      if (type !== request.expects && type !== replyKinds.failed) {
        throw new FrameError('a reply of another kind')
      }
      pending.delete(id)
      request.resolve({ type, payload: Buffer.from(payload), data: request.data })
    },
    rejectAll(reason: string): void {
      for (const { reject } of pending.values()) reject(new SandboxEnded(reason))
      pending.clear()
    },
  }
}

function readReady({ id, payload }: Frame): void {
  if (id !== 0 || payload.length !== 4) throw new FrameError('a ready out of place')
  if (payload.readUInt32LE(0) !== protocolVersion)
    throw new FrameError('a sandbox daemon of another version')
}

/** `onEnd` is called once, with the reason, before running calls are rejected. */
export function connectDaemon(
  { input, output }: DaemonStream,
  readyMs: number,
  onEnd: (reason: string) => void,
) {
  const waiting = createRequests()
  const decode = frameDecoder()
  let endedBy: string | undefined
  let lastId = 0
  let isReady = false
  const ready = Promise.withResolvers<void>()
  const drained: (() => void)[] = []
  const readyTimer = setTimeout(() => end('the sandbox daemon did not start in time'), readyMs)
  ready.promise.catch(() => undefined)

  function end(reason: string): void {
    if (endedBy !== undefined) return
    endedBy = reason
    clearTimeout(readyTimer)
    input.destroy()
    output.destroy()
    onEnd(reason)
    ready.reject(new SandboxEnded(reason))
    waiting.rejectAll(reason)
    for (const resolve of drained.splice(0)) resolve()
  }

  function receive(frame: Frame): void {
    if (isReady) return waiting.receive(frame)
    if (frame.type !== replyKinds.ready) throw new FrameError('a reply before the ready')
    readReady(frame)
    isReady = true
    clearTimeout(readyTimer)
    ready.resolve()
  }

  output.on('data', (chunk: Buffer) => {
    try {
      for (const frame of decode(chunk)) {
        if (endedBy !== undefined) return
        receive(frame)
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      end(`the sandbox daemon broke the protocol: ${error.message}`)
    }
  })
  output.on('end', () => end('the sandbox daemon has ended'))
  output.on('error', (error) => end(`the sandbox daemon's output failed: ${error.message}`))
  input.on('error', (error) => end(`the sandbox daemon's input failed: ${error.message}`))
  input.on('drain', () => {
    for (const resolve of drained.splice(0)) resolve()
  })

  function send(type: RequestType, id: number, parts: RequestParts): boolean {
    if (endedBy !== undefined) throw new SandboxEnded(endedBy)
    return input.write(encodeRequest(type, id, parts))
  }

  return {
    ready: ready.promise,
    end,
    /** Ends the sandbox after a reply that cannot be true. */
    broken(what: string): never {
      const reason = `the sandbox daemon broke the protocol: ${what}`
      end(reason)
      throw new SandboxEnded(reason)
    },
    nextId: () => (lastId = (lastId % 0xffffffff) + 1),
    /** Resolves when the stream takes more bytes. Throws `SandboxEnded`. */
    async send(type: RequestType, id: number, parts: RequestParts): Promise<void> {
      if (!send(type, id, parts)) await new Promise<void>((resolve) => drained.push(resolve))
    },
    /** Throws `SandboxEnded`, and `FrameError` for a request that the daemon would refuse. */
    async ask(id: number, { type, parts, withinMs, ...reply }: DaemonRequest): Promise<FrameReply> {
      send(type, id, parts)
      const answer = waiting.add(id, reply)
      const timer = setTimeout(
        () => end('the sandbox daemon does not answer'),
        withinMs ?? answerWithinMs,
      )
      return answer.finally(() => clearTimeout(timer))
    },
    /** Kills the program of a running `ask`. */
    kill(id: number, graceMs: number): void {
      if (waiting.has(id)) send(requestKinds.kill, id, [graceMs])
    },
  }
}

export type SandboxConnection = ReturnType<typeof connectDaemon>
