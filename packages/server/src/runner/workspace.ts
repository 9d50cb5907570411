/** Each session's sandbox: started when a tool first needs it, stopped when idle; its workspace stays. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  Sandbox,
  SandboxLimits,
  SandboxProvider,
  SandboxSpec,
} from '@steward/sandbox/sandbox.ts'
import type { Log } from '../core/log.ts'
import type { Clock } from '../core/time.ts'

export type WorkspaceDeps = {
  provider: SandboxProvider
  /** Folder of all workspaces; every process of a deployment sees the same one. */
  folder: string
  limits: SandboxLimits
  idleMs: number
  clock: Clock
  log: Log
}

type Held = { sandbox: Promise<Sandbox>; users: number; usedAt: number }

export function workspaces({ provider, folder, limits, idleMs, clock, log }: WorkspaceDeps) {
  const held = new Map<string, Held>()
  /** Sandboxes on their way out: the next one of the session waits until its predecessor is gone. */
  const ending = new Map<string, Promise<void>>()

  const placeOf = (session: string): Pick<SandboxSpec, 'id' | 'workspace' | 'outputs'> => ({
    id: session,
    workspace: join(folder, session, 'workspace'),
    outputs: join(folder, session, 'outputs'),
  })

  async function start(session: string, env: Record<string, string>): Promise<Sandbox> {
    const place = placeOf(session)
    await ending.get(session)
    await mkdir(place.workspace, { recursive: true })
    await mkdir(place.outputs, { recursive: true })
    await provider.reap(place)
    return provider.acquire({ ...place, env, limits, egress: null })
  }

  function open(session: string, env: Record<string, string>): Held {
    const sandbox = start(session, env)
    const fresh: Held = { sandbox, users: 0, usedAt: clock.now() }
    held.set(session, fresh)
    const forget = () => held.get(session) === fresh && held.delete(session)
    sandbox
      .then((started) => started.ended, String)
      .then((why) => {
        forget()
        log.debug('a sandbox ended', { session_id: session, why })
      }, forget)
    return fresh
  }

  async function stop(session: string): Promise<void> {
    const current = held.get(session)
    if (!current) return ending.get(session)
    held.delete(session)
    const closing = current.sandbox.then(
      (sandbox) => sandbox.close(),
      () => {},
    )
    ending.set(session, closing)
    await closing.finally(() => ending.get(session) === closing && ending.delete(session))
  }

  /** Those that no turn uses and none has used for the idle time. */
  async function stopIdle(): Promise<void> {
    const now = clock.now()
    const idle = [...held].filter(([, { users, usedAt }]) => users === 0 && now - usedAt >= idleMs)
    await Promise.all(idle.map(([session]) => stop(session)))
  }

  const sweep = setInterval(
    () => {
      stopIdle().catch((error: unknown) =>
        log.error('an idle sandbox could not be stopped', { error }),
      )
    },
    Math.min(idleMs, 30_000),
  )

  /** For the length of a turn: its sandbox is not idle until the turn gives it back. */
  function use(session: string, env: Record<string, string>) {
    let mine: Held | undefined
    return {
      sandbox(): Promise<Sandbox> {
        const current = held.get(session) ?? open(session, env)
        if (mine !== current) {
          mine = current
          current.users++
        }
        return current.sandbox
      },
      giveBack(): void {
        if (!mine) return
        mine.users--
        mine.usedAt = clock.now()
        mine = undefined
      },
    }
  }

  return {
    use,
    /** Ends the session's sandbox in this process, if it has one; the workspace stays. */
    stop,
    stopIdle,
    /** Of a deleted session: nothing stays. */
    async remove(session: string): Promise<void> {
      await stop(session)
      // Another process of the machine may have run it last.
      await provider.reap(placeOf(session))
      await rm(join(folder, session), { recursive: true, force: true })
    },
    async close(): Promise<void> {
      clearInterval(sweep)
      await Promise.all([...held.keys()].map(stop))
    },
  }
}
export type Workspaces = ReturnType<typeof workspaces>
