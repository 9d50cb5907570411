/** Gives deliveries to sessions, tells threads, and forgets old deliveries. Every process looks; leases and transactions decide. */
import { iso } from '@steward/base/time.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import { listenToSession } from '../../sessions/log/topics.ts'
import { renewAccess } from './app-access.ts'
import { renewCheckout } from './checkout.ts'
import type { GivingDeps } from './dispatch.ts'
import { dispatch } from './dispatch.ts'
import { dispatchJob } from './dispatch-job.ts'
import { createNearestAlarm } from './nearest-alarm.ts'
import { eachOf } from './each.ts'
import { keptDeliveryMs } from './receive.ts'
import { keepGenuine } from './receive-app.ts'
import { idOf } from './slack.ts'
import type { SlackSocket } from './slack-socket.ts'
import { slackSocketJob } from './slack-socket.ts'
import { integrationStore } from './store.ts'
import type { TellDeps } from './tell.ts'
import { tellThread } from './tell.ts'
import { listenToIntegrations } from './topics.ts'

/** What comes due is found by its notification. This is for a lost one, and for a process that died. */
const everyMs = 60_000
const mostDue = 200
/** Until a thread is looked at again that another process tells, or that could not be told. */
const heldMs = 15_000
const renewEveryMs = 2 * 60_000
const forgetEveryMs = 10 * 60_000
const mostForgotten = 500

type JobDeps = GivingDeps &
  Omit<TellDeps, 'holds'> &
  Parameters<typeof keepGenuine>[0] & {
    databases: Databases
    slackSocket: SlackSocket | undefined
  }

export const integrationJobs = (deps: JobDeps): Job[] => [
  dispatchJob({ ...deps, dispatch: (place, id) => dispatch(deps, place, id) }),
  tellJob(deps),
  renewJob(deps),
  forgetJob(deps),
  ...(deps.slackSocket ? [socketJob(deps, deps.slackSocket)] : []),
]

const socketJob = (deps: JobDeps, socket: SlackSocket): Job =>
  slackSocketJob({
    ...socket,
    send: deps.sendToProvider,
    log: deps.log,
    take: (body) => keepGenuine(deps, { integration: 'slack', id: idOf(body), body }),
  })

function tellJob(deps: JobDeps): Job {
  const { databases, bus, clock, log } = deps
  const telling: TellDeps = { ...deps, holds: new Map() }
  /** Sessions that go on, by the functions that stop listening to them. */
  const listening = new Map<string, () => void>()
  let rings = new Set<string>()
  let lookNow = () => {}
  const alarm = createNearestAlarm(clock, () => lookNow())

  function listen(thread: string, session: string): void {
    if (listening.has(thread)) return
    const stop = listenToSession(bus, session, () => {
      rings.add(thread)
      lookNow()
    })
    listening.set(thread, stop)
  }
  function forget(thread: string): void {
    listening.get(thread)?.()
    listening.delete(thread)
  }

  async function runAll(db: Database, rung: ReadonlySet<string>, signal: AbortSignal) {
    const due = await integrationStore(db.read).threadsToTell(clock.now(), [...rung], mostDue)
    await eachOf(due, signal, async ({ tenant_id: tenant, id, session_id }) => {
      const place = { db, tenant, signal }
      // First: what comes while the log is read rings again.
      if (session_id !== null) listen(id, session_id)
      const told = await tellThread(telling, place, id).catch((error: unknown) => {
        log.error('a thread could not be told; it is tried again', { error, thread_id: id })
      })
      // Another process has it, and may die with it.
      if (!told) alarm.set(clock.now() + heldMs, signal)
      if (!told?.isRunning) forget(id)
      if (told?.at !== undefined) alarm.set(told.at, signal)
    })
    return due.length < mostDue
  }

  return {
    name: 'tell external threads',
    everyMs,
    run(signal) {
      const rung = rings
      rings = new Set()
      return runOnEach(databases.due(), (db) => runAll(db, rung, signal))
    },
    start(runNow) {
      lookNow = runNow
      const unsubscribe = listenToIntegrations(bus, runNow)
      return () => {
        unsubscribe()
        alarm.stop()
        for (const thread of [...listening.keys()]) forget(thread)
      }
    },
  }
}

/** Tokens of the apps for calls of agents, and for the repositories of sessions that run. */
function renewJob(deps: JobDeps): Job {
  const { databases, clock, log } = deps
  async function runAll(db: Database, signal: AbortSignal): Promise<boolean> {
    const store = integrationStore(db.read)
    const failed = (of: object) => (error: unknown) => {
      log.warn('a token of an app could not be renewed; it is tried again', { error, ...of })
    }
    const now = clock.now()
    const publications = await store.publicationsToRenew(now, mostDue)
    await eachOf(publications, signal, ({ tenant_id: tenant, id }) =>
      store
        .publication(tenant, id)
        .then((row) => renewAccess(deps, { db, tenant, signal }, row))
        .catch(failed({ publication_id: id })),
    )
    const threads = await store.threadsToRenew(now, mostDue)
    await eachOf(threads, signal, async ({ tenant_id: tenant, id }) => {
      const row = await store.thread(tenant, id)
      if (row)
        await renewCheckout(deps, { db, tenant, signal }, row).catch(
          failed({ session_id: row.session_id }),
        )
    })
    return true
  }
  return {
    name: 'renew the tokens of apps for agents',
    everyMs: renewEveryMs,
    run: (signal) => runOnEach(databases.due(), (db) => runAll(db, signal)),
  }
}

function forgetJob({ databases, clock }: JobDeps): Job {
  const walk = databases.walk(forgetEveryMs)
  const forgetAll = async (db: Database): Promise<boolean> => {
    const before = iso(clock.now() - keptDeliveryMs)
    const gone = await db.writeStatement((tx) =>
      integrationStore(tx).forgetDeliveries(before, mostForgotten),
    )
    return gone < mostForgotten
  }
  return {
    name: 'forget old deliveries of integrations',
    everyMs: forgetEveryMs,
    run: () => runOnEach(walk(), forgetAll),
  }
}
