/** The reference harness of `openma-harness-supervisor-v1`: runs a session's calls in a sandbox on this machine. */
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { parseNamed } from '@steward/protocol/problems.ts'
import { z } from 'zod'
import { SandboxSettings } from '../sandboxes.ts'
import { readSessionsToken } from '../service.ts'
import { streamLines } from '../supervisor/lines.ts'
import type { Start, ToSupervisor } from '../supervisor/protocol.ts'
import { exitCodes, parseMessage, protocol, ToHarness } from '../supervisor/protocol.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { openTunnel } from '../tunnel.ts'
import type { CallWatch } from './calls.ts'
import { toRunnableTool, runnableTools } from './calls.ts'
import { outputReporter, reportTo } from './command-output.ts'
import { mountInputs } from './inputs.ts'
import { leaseWatch } from './lease-watch.ts'
import { CloneFailedError, repositoriesOf } from './repositories.ts'
import type { SessionSandbox } from './sandbox.ts'
import { closeWithinMs, sessionSandbox } from './sandbox.ts'
import { createStdioServers } from './stdio/servers.ts'

const Variables = z.object({
  VENDOR_BASE_URL: z.string(),
  VENDOR_SESSION_ID: z.string(),
  VENDOR_WORK_SECRET: z.string(),
})
/** Retries survive half a minute without the service. A request without an answer is repeated. */
const patience = { maxRetries: 7, timeout: 30_000 }
/** Delay between two `preparing` messages while inputs are mounted. */
const preparingMs = 10_000

const say = (message: ToSupervisor): void => {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

async function fail(code: number, message: string, isTold = false): Promise<never> {
  const said = { type: 'failed', message, is_told: isTold } satisfies ToSupervisor
  const line = `${JSON.stringify(said)}\n`
  await new Promise<void>((resolve) => process.stdout.write(line, () => resolve()))
  process.exit(code)
}

async function prepared(sandbox: SessionSandbox): Promise<void> {
  const saying = setInterval(() => say({ type: 'preparing' }), preparingMs)
  try {
    await sandbox.open()
  } catch (error) {
    await sandbox.close('rested')
    throw error
  } finally {
    clearInterval(saying)
  }
}

/** Rejects when this harness cannot use the session's inputs or the settings. */
async function serve(start: Start) {
  const told = parseNamed('the environment of the harness', Variables, process.env)
  const settings = parseNamed('settings.sandbox', SandboxSettings, start.settings['sandbox'])
  const [baseUrl, token] = [told.VENDOR_BASE_URL, readSessionsToken(told.VENDOR_WORK_SECRET)]
  const client = new Anthropic({ baseURL: baseUrl, apiKey: null, authToken: token, ...patience })
  const claimed = { baseUrl, token, session: start.session_id }
  const tunnel = start.settings['egress'] === 'session' ? await openTunnel(claimed) : undefined
  const session = await client.beta.sessions.retrieve(start.session_id)
  const temporary = start.inputs === undefined ? await temporaryFolder('inputs') : undefined
  const started = {
    client,
    session,
    folder: start.inputs ?? temporary?.path ?? '',
    workdir: start.workdir,
    user: start.user,
    isKnown: start.is_known ?? false,
    isHost: settings.provider === 'local',
  }
  const sandbox = sessionSandbox(start, {
    settings,
    tunnel,
    stores: join(started.folder, 'memory'),
    inputs: await mountInputs(started),
    mountInputs: () => mountInputs({ ...started, isKnown: true }),
  })
  // The session cannot work without its repositories, so no call starts before they are cloned.
  if (repositoriesOf(session).length > 0) await prepared(sandbox)
  const given = new AbortController()
  const state = { running: 0, isStopping: false, isAborted: false }
  const reportOutput = reportTo(client, start.session_id)
  const watch: CallWatch = {
    began(id, name) {
      state.running++
      say({ type: 'event', name: 'call_started', data: { tool_use_id: id, name } })
    },
    ended(id, is_error) {
      state.running--
      say({ type: 'event', name: 'call_finished', data: { tool_use_id: id, is_error } })
    },
    output: (id) => outputReporter(id, reportOutput),
  }
  const servers = createStdioServers({
    client,
    session,
    open: () => sandbox.open(),
    closed: given.signal,
    came: (server, is_up) => say({ type: 'event', name: 'server', data: { server, is_up } }),
  })

  async function run(): Promise<void> {
    const own = (await servers.begin()).map((tool) => toRunnableTool(tool, sandbox, watch))
    const { events } = client.beta.sessions
    const runner = events.toolRunner(start.session_id, {
      tools: [...runnableTools(sandbox, watch), ...own],
      maxIdleMs: start.idle_ms,
      signal: given.signal,
    })
    for await (const call of runner) {
      say({
        type: 'event',
        name: 'call_posted',
        data: { tool_use_id: call.toolUseId, posted: call.posted },
      })
      if (state.isStopping) break
    }
    if (state.isAborted) return
    try {
      await sandbox.rested()
    } finally {
      await sandbox.close('rested')
      await temporary?.remove()
    }
    say({ type: 'done', reason: state.isStopping ? 'stopped' : 'rested' })
  }
  return {
    run,
    /** Running calls may take `withinMs`; then they are aborted without a result. */
    stop(withinMs: number): void {
      state.isStopping = true
      if (state.running === 0) given.abort()
      else setTimeout(() => given.abort(), Math.max(0, withinMs - closeWithinMs - 500))
    },
    /** Sends nothing from now on. The supervisor ends the process. */
    async abort(): Promise<void> {
      state.isAborted = true
      given.abort()
      await sandbox.close('left')
      await temporary?.remove()
    },
  }
}

async function main(): Promise<void> {
  let serving: Awaited<ReturnType<typeof serve>> | undefined
  let isStarted = false
  let isAborting = false
  let stopping: number | undefined
  /** Runs while further messages are read. */
  async function begin(message: Start): Promise<void> {
    isStarted = true
    try {
      serving = await serve(message)
    } catch (error) {
      return fail(exitCodes.refused, (error as Error).message, error instanceof CloneFailedError)
    }
    say({ type: 'ready', protocol, harness: { name: 'steward-worker', version: '0.1.0' } })
    const running = serving.run()
    if (stopping !== undefined) serving.stop(stopping)
    try {
      await running
    } catch (error) {
      if (isAborting) return
      return fail(exitCodes.failed, (error as Error).message)
    }
    if (!isAborting) process.exit(exitCodes.done)
  }
  async function abort(): Promise<never> {
    isAborting = true
    await serving?.abort()
    process.exit(exitCodes.aborted)
  }
  const lease = leaseWatch(() => void abort())
  const types = ['start', 'stop', 'lease', 'abort']
  for await (const line of streamLines(process.stdin)) {
    const found = parseMessage(ToHarness, types, line)
    if ('other' in found) continue
    if ('broken' in found) return fail(exitCodes.failed, `the supervisor wrote ${found.broken}`)
    const { message } = found
    if (message.type === 'abort') return abort()
    if (message.type === 'lease') {
      lease.extend(message.for_ms)
      continue
    }
    if (message.type === 'stop') {
      if (!isStarted) process.exit(exitCodes.done)
      if (serving) serving.stop(message.within_ms)
      else stopping = message.within_ms
      continue
    }
    if (message.protocol !== protocol)
      return fail(exitCodes.refused, `this harness speaks ${protocol}, not ${message.protocol}`)
    if (isStarted) return fail(exitCodes.failed, 'a second start')
    if (message.lease_ms !== undefined) lease.extend(message.lease_ms)
    void begin(message)
  }
  // The supervisor has ended, and with it the lease.
  await abort()
}

await main()
