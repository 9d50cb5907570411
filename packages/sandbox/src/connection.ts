/** Requests and their replies over one stream of frames; what all sandboxes share. */
import type { Readable, Writable } from 'node:stream'
import {
  encodeRequest,
  FrameError,
  frameDecoder,
  protocolVersion,
  replies,
  requests,
} from './frames.ts'
import type { Frame, ReplyType, RequestType } from './frames.ts'
import { SandboxEnded } from './sandbox.ts'

export type AgentStream = { input: Writable; output: Readable }

/** The end of a request: a frame of the expected type, or `failed`. */
export type Reply = { type: ReplyType; payload: Buffer; data: Buffer[] }

type Pending = {
  expects: ReplyType
  /** Bytes of data the agent may still send. */
  budget: number
  data: Buffer[]
  resolve: (reply: Reply) => void
  reject: (error: Error) => void
}

type Parts = Parameters<typeof encodeRequest>[2]

export type Request = {
  type: RequestType
  parts: Parts
  expects: ReplyType
  budget: number
  /** The agent is taken for dead when it has not answered by then. */
  withinMs?: number
}

export type Connection = ReturnType<typeof connect>

const answerWithinMs = 60_000
const readyWithinMs = 10_000

/** `onEnd` is called once, with the reason, before the calls under way are rejected. */
export function connect({ input, output }: AgentStream, onEnd: (reason: string) => void) {
  const pending = new Map<number, Pending>()
  const decode = frameDecoder()
  let endedBy: string | undefined
  let lastId = 0
  let isReady = false
  const ready = Promise.withResolvers<void>()
  const drained: (() => void)[] = []
  const readyTimer = setTimeout(() => end('the agent did not start in time'), readyWithinMs)
  ready.promise.catch(() => undefined)

  function end(reason: string): void {
    if (endedBy !== undefined) return
    endedBy = reason
    clearTimeout(readyTimer)
    input.destroy()
    output.destroy()
    onEnd(reason)
    ready.reject(new SandboxEnded(reason))
    for (const { reject } of pending.values()) reject(new SandboxEnded(reason))
    pending.clear()
    for (const resolve of drained.splice(0)) resolve()
  }

  function receiveReady({ id, payload }: Frame): void {
    if (isReady || id !== 0 || payload.length !== 4) throw new FrameError('a ready out of place')
    if (payload.readUInt32LE(0) !== protocolVersion)
      throw new FrameError('an agent of another version')
    isReady = true
    clearTimeout(readyTimer)
    ready.resolve()
  }

  function receive(frame: Frame): void {
    if (frame.type === replies.ready) return receiveReady(frame)
    const request = pending.get(frame.id)
    if (request === undefined) throw new FrameError(`a reply to no request, ${frame.id}`)
    if (frame.type === replies.data) {
      request.budget -= frame.payload.length
      if (frame.payload.length === 0 || request.budget < 0)
        throw new FrameError('more data than asked for')
      request.data.push(Buffer.from(frame.payload))
      return
    }
    if (frame.type !== request.expects && frame.type !== replies.failed) {
      throw new FrameError('a reply of another kind')
    }
    pending.delete(frame.id)
    request.resolve({ type: frame.type, payload: Buffer.from(frame.payload), data: request.data })
  }

  output.on('data', (chunk: Buffer) => {
    try {
      for (const frame of decode(chunk)) {
        if (endedBy !== undefined) return
        receive(frame)
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      end(`the agent broke the protocol: ${error.message}`)
    }
  })
  output.on('end', () => end('the agent has ended'))
  output.on('error', (error) => end(`the agent's output failed: ${error.message}`))
  input.on('error', (error) => end(`the agent's input failed: ${error.message}`))
  input.on('drain', () => {
    for (const resolve of drained.splice(0)) resolve()
  })

  function send(type: RequestType, id: number, parts: Parts): boolean {
    if (endedBy !== undefined) throw new SandboxEnded(endedBy)
    return input.write(encodeRequest(type, id, parts))
  }

  return {
    ready: ready.promise,
    end,
    /** Ends the sandbox for a reply that cannot be true. */
    broken(what: string): never {
      const reason = `the agent broke the protocol: ${what}`
      end(reason)
      throw new SandboxEnded(reason)
    },
    nextId: () => (lastId = (lastId % 0xffffffff) + 1),
    /** Resolves once the stream takes more; throws `SandboxEnded`. */
    async send(type: RequestType, id: number, parts: Parts): Promise<void> {
      if (!send(type, id, parts)) await new Promise<void>((resolve) => drained.push(resolve))
    },
    /** Throws `SandboxEnded`, and `FrameError` for a request the agent would not take. */
    async ask(id: number, { type, parts, expects, budget, withinMs }: Request): Promise<Reply> {
      const { promise, resolve, reject } = Promise.withResolvers<Reply>()
      send(type, id, parts)
      pending.set(id, { expects, budget, data: [], resolve, reject })
      const timer = setTimeout(() => end('the agent does not answer'), withinMs ?? answerWithinMs)
      return promise.finally(() => clearTimeout(timer))
    },
    /** For the reply to a request that `send` has begun. */
    kill(id: number, graceMs: number): void {
      if (pending.has(id)) send(requests.kill, id, [graceMs])
    },
  }
}
