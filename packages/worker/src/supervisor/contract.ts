/** The contract of every harness of `openma-harness-supervisor-v1`, whoever wrote it. docs/supervisor-protocol.md */
import assert from 'node:assert/strict'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { streamLines } from './lines.ts'
import type { Start } from './protocol.ts'
import { exitCodes, protocol, ToSupervisor } from './protocol.ts'

/** A session with one long call that has no result yet. */
export type ContractSession = AsyncDisposable & {
  env: Record<string, string>
  start: Omit<Start, 'type' | 'protocol'>
  /** Number of results that the session got. */
  results(): number
}

export type HarnessSubject = {
  command: readonly [string, ...string[]]
  open: (call: string) => Promise<ContractSession>
}

const long = 'sleep 60'
const abortMs = 2_000

export function harnessContract(name: string, { command, open }: HarnessSubject): void {
  const [program, ...rest] = command

  async function spoken(call = long) {
    const session = await open(call)
    const child = spawn(program, rest, { env: session.env, stdio: 'pipe' })
    child.stdin.on('error', () => {})
    child.stderr.resume()
    const ended = once(child, 'exit') as Promise<[number | null]>
    const heard: ToSupervisor[] = []
    let look = () => {}
    const listened = listen(child, (message) => {
      heard.push(message)
      look()
    })
    return {
      ...{ session, child, heard },
      tell: (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`),
      start: (speaks = protocol, more: object = {}) =>
        child.stdin.write(
          `${JSON.stringify({ type: 'start', protocol: speaks, ...session.start, ...more })}\n`,
        ),
      until: (what: string) =>
        new Promise<void>((resolve) => {
          look = () => {
            if (heard.some((message) => nameOf(message) === what)) resolve()
          }
          look()
        }),
      async code() {
        const [code] = await ended
        await listened
        return code
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL')
        await session[Symbol.asyncDispose]()
      },
    }
  }

  describe(`harness ${name}`, () => {
    it('is ready first of all, in the version it was asked for', async () => {
      await using harness = await spoken()
      harness.start()
      await harness.until('ready')
      const [first] = harness.heard
      assert.equal(first?.type === 'ready' && first.protocol, protocol)
    })

    it('refuses another version before it does anything', async () => {
      await using harness = await spoken()
      harness.start('openma-harness-supervisor-v0')
      assert.equal(await harness.code(), exitCodes.refused)
      assert.deepEqual(
        harness.heard.map(({ type }) => type),
        ['failed'],
      )
    })

    it('passes over messages that it does not know', async () => {
      await using harness = await spoken()
      harness.tell({ type: 'from_the_future', x: 1 })
      harness.start()
      await harness.until('ready')
    })

    it('sends the result of a call, and says that it has', async () => {
      await using harness = await spoken('echo short')
      harness.start()
      await harness.until('call_posted')
      assert.equal(harness.session.results(), 1)
    })

    it('stops with the result of the running call, if there is time for it', async () => {
      await using harness = await spoken('sleep 1; echo done')
      harness.start()
      await harness.until('call_started')
      harness.tell({ type: 'stop', reason: 'shutdown', within_ms: 30_000 })
      assert.equal(await harness.code(), exitCodes.done)
      assert.equal(harness.session.results(), 1)
    })

    it('stops without a result of a call that runs too long, and in time', async () => {
      await using harness = await spoken()
      harness.start()
      await harness.until('call_started')
      harness.tell({ type: 'stop', reason: 'stopping', within_ms: 3_000 })
      assert.equal(await harness.code(), exitCodes.done)
      assert.equal(harness.heard.at(-1)?.type, 'done')
      assert.equal(harness.session.results(), 0)
    })

    it('ends soon after an abort, and sends nothing more', async () => {
      await using harness = await spoken()
      harness.start()
      await harness.until('call_started')
      const begun = performance.now()
      harness.tell({ type: 'abort', reason: 'lease_lost' })
      assert.equal(await harness.code(), exitCodes.aborted)
      assert.ok(performance.now() - begun < abortMs)
      assert.equal(harness.session.results(), 0)
    })

    // verifies: worker/lane/supervised-silence
    it('ends by itself when it hears of no lease for as long as the last one lasts, and sends nothing', async () => {
      await using harness = await spoken('sleep 60')
      harness.start(protocol, { lease_ms: 60_000 })
      await harness.until('call_started')
      const leaseMs = 1_000
      const begun = performance.now()
      harness.tell({ type: 'lease', for_ms: leaseMs })
      await new Promise((resolve) => setTimeout(resolve, leaseMs / 2))
      harness.tell({ type: 'lease', for_ms: leaseMs })
      assert.equal(await harness.code(), exitCodes.aborted)
      const tookMs = performance.now() - begun
      assert.ok(tookMs >= leaseMs * 1.5 && tookMs < leaseMs * 1.5 + abortMs, `${tookMs}`)
      assert.equal(harness.session.results(), 0)
    })

    it('takes the end of its input for an abort', async () => {
      await using harness = await spoken()
      harness.start()
      await harness.until('call_started')
      harness.child.stdin.end()
      assert.equal(await harness.code(), exitCodes.aborted)
      assert.equal(harness.session.results(), 0)
    })

    it('fails on a line that is no message', async () => {
      await using harness = await spoken()
      harness.child.stdin.write('not JSON\n')
      assert.equal(await harness.code(), exitCodes.failed)
    })
  })
}

const nameOf = (message: ToSupervisor): string =>
  message.type === 'event' ? message.name : message.type

async function listen(
  { stdout }: ChildProcessWithoutNullStreams,
  heard: (message: ToSupervisor) => void,
): Promise<void> {
  for await (const line of streamLines(stdout)) heard(ToSupervisor.parse(JSON.parse(line)))
}
