/**
 * Everything that a session holds in this process: egress, MCP connections and sandbox. The sandbox starts when a tool
 * first needs it and stops when idle. The working folder stays.
 */
import { join } from 'node:path'
import type { McpServers } from '@steward/harness/tools/mcp/servers.ts'
import type { TurnNotice } from '@steward/harness/turn.ts'
import type { Pool } from '@steward/base/pool.ts'
import { createPool } from '@steward/base/pool.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import { computeFingerprint } from '@steward/space/working-folder/fingerprint.ts'
import { withoutHostPaths } from '@steward/sandbox/host-paths.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { removeTree } from '@steward/sandbox/remove-tree.ts'
import type { RunLease, HeldSandbox, StartedSandbox, SandboxPoolDeps } from './held-sandbox.ts'
import { sandboxPaths } from './held-sandbox.ts'
import type { SandboxSlots } from './sandbox-slots.ts'
import { sandboxSlots } from './sandbox-slots.ts'
import { startSandboxAt } from './start-sandbox.ts'

const passable: TurnNotice = {
  reason: 'egress_not_enforced',
  message:
    "the sandbox's programs may go around the proxy: the environment's lists are not enforced on those that do, and no credential is added to what they send",
}

const isSame = ({ environment: one }: RunLease, { environment: other }: RunLease): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** A checkpoint of unchanged files is stored again after this time, so that it is not removed for its age. */
const savedMs = 3_600_000

/**
 * Stores a checkpoint of the working folder, unless the folder is unchanged since the last one. A failure is a warning
 * in the session's log and does not stop the session.
 */
async function save(deps: SandboxPoolDeps, mine: HeldSandbox): Promise<void> {
  const { tenant, session } = mine.lease
  const isRunning = mine.running !== undefined
  mine.isChanged = false
  try {
    const own = join(deps.folder, session)
    const print = await computeFingerprint(own)
    const at = deps.clock.now()
    if (print !== undefined && mine.saved?.print === print && at < mine.saved.at + savedMs) return
    delete mine.saved
    const isStored = await deps.checkpoints.save({ tenant, session, own }, { isRunning })
    // A change during the storing gives the next checkpoint another fingerprint.
    if (isStored && print !== undefined) mine.saved = { print, at }
  } catch (error) {
    mine.isChanged = true
    deps.log.warn('a checkpoint was not stored', { error, session_id: session })
    const message = `the checkpoint of the working folder was not stored: ${withoutHostPaths((error as Error).message)}`
    await warn(deps, mine, 'checkpoint_failed', message)
  }
}

/** Publishes the output files. A file that failed is published by a job, or at the end of the next turn. */
async function publish(deps: SandboxPoolDeps, mine: HeldSandbox): Promise<void> {
  const { session } = mine.lease
  try {
    await deps.publish(mine.lease, join(deps.folder, session), mine.running !== undefined)
  } catch (error) {
    deps.log.warn('outputs were not published', { error, session_id: session })
    const message = 'the outputs could not be published now; this is tried again until it succeeds'
    await warn(deps, mine, 'outputs_not_published', message)
  }
}

async function warn(
  { keep }: SandboxPoolDeps,
  { lease }: HeldSandbox,
  reason: string,
  message: string,
): Promise<void> {
  await keep(lease, [{ id: newId('event'), type: 'session.warning', reason, message }])
}

async function end(deps: SandboxPoolDeps, mine: HeldSandbox): Promise<void> {
  const { egress, started, connected, lease } = mine
  const { session } = lease
  // Close the connections to the MCP servers first, with a time limit: after the revocation no request reaches them.
  const closed = [...connected.values()].map(({ servers }) => servers.close())
  await Promise.all(closed).catch((error: unknown) => {
    deps.log.warn('connections to MCP servers were not closed', { error, session_id: session })
  })
  // Revoke before the sandbox ends: from here on no request of the sandbox gets a credential.
  egress.revoke()
  const wasStarted = await started?.then(
    async ({ sandbox, released }) => {
      await sandbox.close()
      await released
      return true
    },
    () => false,
  )
  if (!wasStarted || deps.saving === 'off') return
  await save(deps, mine).catch((error: unknown) => {
    deps.log.warn('the warning about a checkpoint was not appended', { error, session_id: session })
  })
}

/** Calls `look` while the sandbox runs; returns `otherwise` when there is no sandbox or it has ended. */
async function whileRunning<T>(
  { running }: HeldSandbox,
  look: (running: StartedSandbox) => Promise<T>,
  otherwise: T,
): Promise<T> {
  if (!running) return otherwise
  try {
    return await look(running)
  } catch (error) {
    if (error instanceof SandboxEnded) return otherwise
    throw error
  }
}

function connections(mine: HeldSandbox, thread: string, sandbox: () => Promise<Sandbox>) {
  const { connected } = mine
  function disconnect(): void {
    const before = connected.get(thread)
    if (!before) return
    mine.leaving = Promise.all([mine.leaving, before.servers.close()])
    connected.delete(thread)
  }
  return {
    disconnect,
    /**
     * Returns the open connections. They last over turns, until `key` changes because servers or tools are declared
     * differently.
     */
    servers(key: string, make: (sandbox: () => Promise<Sandbox>) => McpServers): McpServers {
      if (connected.get(thread)?.key !== key) disconnect()
      const { servers } = connected.get(thread) ?? { servers: make(sandbox) }
      connected.set(thread, { key, servers })
      return servers
    },
  }
}

type SessionSandboxes = {
  slots: SandboxSlots
  held: Pool<HeldSandbox>
  /** Sandboxes that are ending. The next sandbox of a session waits for the end of the previous one. */
  ending: Map<string, Promise<void>>
}

/** A `TurnFailed` is in the session's log and may hold its contents, so the server's log gets only its name. */
const whyNot = (error: unknown): string =>
  error instanceof TurnFailed ? error.name : String(error)

async function leave(
  ending: SessionSandboxes['ending'],
  session: string,
  gone: Promise<void>,
): Promise<void> {
  ending.set(session, gone)
  await gone.finally(() => ending.get(session) === gone && ending.delete(session))
}

/** Returns the running sandbox, or starts one after the previous sandbox has ended. */
function startedOf(
  deps: SandboxPoolDeps,
  mine: HeldSandbox,
  sessions: SessionSandboxes,
): Promise<StartedSandbox> {
  const { held, ending, slots } = sessions
  const { session } = mine.lease
  if (mine.started) return mine.started
  if (held.get(session) !== mine) return Promise.reject(new SandboxEnded('it was stopped'))
  const started = (ending.get(session) ?? Promise.resolve()).then(() =>
    startSandboxAt(deps, mine, slots),
  )
  mine.started = started
  if (deps.isPassable) mine.notices.push(passable)
  const forget = () => {
    if (mine.started !== started) return
    delete mine.started
    delete mine.running
  }
  started
    .then((running) => {
      if (mine.started === started) mine.running = running
      if (held.get(session) === mine && held.users(session) === 0) slots.rests(mine.lease)
      return running.sandbox.ended.then((why) => {
        // The sandbox ended by itself, unless it is no longer held.
        if (held.get(session) === mine) void leave(ending, session, running.released)
        return why
      })
    }, whyNot)
    .then((why) => {
      forget()
      deps.log.debug('a sandbox ended', { session_id: session, why })
    }, forget)
  return started
}

/** The work after a turn, once at a time: reads mounted folders back, publishes outputs, and stores a checkpoint. */
async function rest(deps: SandboxPoolDeps, mine: HeldSandbox): Promise<void> {
  mine.resting = mine.next ?? mine.resting
  delete mine.next
  await whileRunning(mine, ({ mounted, sandbox }) => mounted.rested(sandbox), undefined)
  await publish(deps, mine)
  if (mine.isChanged && deps.saving === 'idle') await save(deps, mine)
}

const newHeld = ({ bind }: SandboxPoolDeps, lease: RunLease): HeldSandbox => ({
  lease,
  egress: bind(lease),
  notices: [],
  isChanged: false,
  connected: new Map(),
  leaving: Promise.resolve(),
  resting: Promise.resolve(),
  waiting: new AbortController(),
})

export function sandboxPool(deps: SandboxPoolDeps) {
  const { provider, folder, idleMs, clock, log } = deps
  const ending = new Map<string, Promise<void>>()
  const stopped = (error: unknown) => log.error('a sandbox could not be stopped', { error })
  const held = createPool<HeldSandbox>({
    clock,
    idleMs,
    everyMs: Math.min(idleMs, 30_000),
    fail: stopped,
    close: (mine, session) => endHeld(session, mine),
  })
  const slots = sandboxSlots({
    share: deps.share,
    resting: () =>
      held.idle().flatMap(({ key: session, thing: { lease, running }, since }) => {
        return running ? { tenant: lease.tenant, session, usedAt: since } : []
      }),
    stop: (session) => void stop(session).catch(stopped),
  })

  async function sandboxOf(mine: HeldSandbox): Promise<Sandbox> {
    const { sandbox, mounted } = mine.running ?? (await startedTelling(mine))
    await mounted.before(sandbox)
    return sandbox
  }

  /** Tells that the session waits, for as long as the sandbox starts. */
  const startedTelling = (mine: HeldSandbox) =>
    deps.waits(mine.lease, 'sandbox', startedOf(deps, mine, { held, ending, slots }))

  async function stop(session: string): Promise<void> {
    const current = held.remove(session)
    await (current ? endHeld(session, current) : ending.get(session))
  }

  async function endHeld(session: string, current: HeldSandbox): Promise<void> {
    current.waiting.abort(new SandboxEnded('it was stopped'))
    const before = ending.get(session)?.catch(() => {})
    await leave(
      ending,
      session,
      Promise.all([end(deps, current), before]).then(() => {}),
    )
  }

  /** Call for each turn of a thread. The sandbox is not idle until the turn releases it. */
  function use(lease: RunLease, thread = '') {
    const { session, generation } = lease
    const current = held.get(session)
    // A running sandbox keeps the environment that it was started with; an idle session without one takes the new
    // environment.
    const isIdle = held.users(session) === 0
    if (current && isIdle && !current.started && !isSame(current.lease, lease)) {
      void stop(session)
    }
    const { thing: mine, leave: leaveHeld } = held.use(session, () => newHeld(deps, lease))
    mine.egress.renew(generation)
    mine.lease = { ...mine.lease, generation }
    if (mine.waiting.signal.aborted) mine.waiting = new AbortController()
    return {
      egress: mine.egress,
      sandbox: () => sandboxOf(mine),
      whileConnecting: (waited: Promise<void>) => deps.waits(mine.lease, 'mcp', waited),
      takeNotices: () => mine.notices.splice(0),
      /** Call after a tool call that may have changed the sandbox. Returns lines for the model. */
      async changed() {
        mine.isChanged = true
        return whileRunning(mine, ({ mounted, sandbox }) => mounted.changed(sandbox), [])
      },
      /** Call after any tool call. Returns lines for the model about events that came in the meantime. */
      announced: () => whileRunning(mine, ({ mounted, sandbox }) => mounted.announced(sandbox), []),
      /** Call at the end of the turn. Threads whose turns end at the same time share the work after them. */
      // oxlint-disable-next-line steward/no-kept-promise -- `rest` forgets it as it begins
      rested: () => (mine.next ??= mine.resting.catch(() => {}).then(() => rest(deps, mine))),
      ...connections(mine, thread, () => sandboxOf(mine)),
      giveBack(): void {
        if (!leaveHeld()) return
        if (mine.running) slots.rests(mine.lease)
        else if (mine.started) mine.waiting.abort(new SandboxEnded('its turn is over'))
        if (mine.started || mine.connected.size > 0 || !held.remove(session, mine)) return
        void mine.leaving.then(() => mine.egress.revoke())
      },
    }
  }

  return {
    use,
    /** Ends everything that the session holds in this process. The working folder stays. */
    stop,
    /** Stops sandboxes that no turn has used for the idle time. */
    stopIdle: held.closeIdle,
    /** Ends and removes everything of a deleted session on this machine. */
    async remove(session: string): Promise<void> {
      await stop(session)
      // Another process of this machine may have run the session last.
      await provider.reap(sandboxPaths(folder, session))
      await removeTree(join(folder, session))
    },
    close: held.close,
  }
}
export type SandboxPool = ReturnType<typeof sandboxPool>
