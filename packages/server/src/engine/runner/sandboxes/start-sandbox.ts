/** Starts the sandbox of a session: restores its files, mounts its resources, opens its gate. */
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { mountKinds } from '@steward/space/mounted-kinds.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import { arrivalNotice } from '@steward/space/working-folder/checkpoints.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { MountTarget } from './mount-kind.ts'
import type { HeldSandbox, StartedSandbox, SandboxPoolDeps } from './held-sandbox.ts'
import { sandboxPaths } from './held-sandbox.ts'
import { makeStartFolder, removeLeftStarts, removeStartFolder } from './start-folder.ts'
import type { SandboxSlots } from './sandbox-slots.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'

/** Holds the slot until the sandbox and everything mounted into it has been cleaned up. */
export async function startSandboxAt(
  deps: SandboxPoolDeps,
  mine: HeldSandbox,
  slots: SandboxSlots,
): Promise<StartedSandbox> {
  const giveBack = await slots.take(mine.lease.tenant, mine.waiting.signal)
  try {
    const started = await startSandbox(deps, mine)
    void started.released.then(giveBack)
    return started
  } catch (error) {
    giveBack()
    throw error
  }
}

async function startSandbox(deps: SandboxPoolDeps, mine: HeldSandbox): Promise<StartedSandbox> {
  const { provider, folder } = deps
  const { lease, egress } = mine
  const { tenant, session, environment } = lease
  await checkImage(deps, tenant, environment.base_image)
  const target = sandboxPaths(folder, session)
  const own = join(folder, session)
  await provider.reap(target)
  await makePrivate(own)
  const [arrival, row] = await Promise.all([
    deps.waits(lease, 'files', deps.checkpoints.arrive({ tenant, session, own })),
    deps.session(tenant, session),
  ])
  const told = arrivalNotice(arrival)
  if (told) mine.notices.push({ reason: 'sandbox_replaced', message: told, told: true })
  const agent = fromJson(row.agent)
  const keep = (events: readonly NewEvent[]) => deps.keep(mine.lease, events)
  const isPrefilled = arrival.kind === 'restored'
  const isKnown = arrival.kind === 'here' || isPrefilled
  const sessionFolders = {
    tenant,
    session,
    row,
    agent,
    environment,
    folder: own,
    egress,
    isKnown,
    keep,
    during: <T>(type: 'packages' | 'files', waited: Promise<T>) =>
      deps.waits(mine.lease, type, waited),
  }
  await removeLeftStarts(own, deps.clock.now())
  let hasStarted = false
  const start = () =>
    startMounted(deps, { ...target, isPrefilled }, sessionFolders, () => (hasStarted = true))
  return start().catch(async (error: unknown) => {
    // The next turn may claim the session while the sandbox starts: its generation fences this start off.
    if (mine.lease.generation !== lease.generation) return start()
    // Nothing ran, and a start that met the end of a sandbox of another process does not meet it again.
    const mayPass = !hasStarted && !(error instanceof TurnFailed)
    if (mayPass && (await deps.isOurs(lease))) return start()
    throw error
  })
}

/** A list may have changed since the environment was made. */
async function checkImage({ rules }: SandboxPoolDeps, tenant: string, image: string | null) {
  const refused = image === null ? undefined : await rules.refusal(tenant, 'images', [image])
  if (refused !== undefined) throw new SandboxEnded(`did not start: ${refused}`)
}

/**
 * Attack: other accounts of the host could read given files and memories in the session's folder, where the sandbox's
 * user, another one than the server's, must read them. The sandbox reaches them by its mounts alone.
 */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
}

type StartPaths = ReturnType<typeof sandboxPaths> & { isPrefilled: boolean }

/**
 * Opens the gate and mounts the kinds before the sandbox starts, and closes both after the sandbox has ended. `started`
 * is called when a command can have run in it.
 */
async function startMounted(
  { provider, kinds, limits, log }: SandboxPoolDeps,
  paths: StartPaths,
  session: Omit<MountTarget, 'start'>,
  started: () => void,
): Promise<StartedSandbox> {
  const target = { ...session, start: await makeStartFolder(session.folder) }
  const { mounted, gate } = await mountBesideGate(kinds, target).catch(async (error: unknown) => {
    await removeStartFolder(target.start)
    throw error
  })
  const release = async () => {
    try {
      await gate.close()
      await mounted.ended()
    } finally {
      await removeStartFolder(target.start)
    }
  }
  const env = { ...mounted.env, ...target.environment.env, ...gate.env }
  const { mounts, path, layer, outputsAt } = mounted
  const image = target.environment.base_image
  const spec = {
    ...paths,
    env,
    limits,
    egress: gate,
    mounts,
    path,
    ...(image !== null && { image }),
    ...(layer !== undefined && { layer }),
    ...(outputsAt !== undefined && { outputsAt }),
  }
  const sandbox = await provider.acquire(spec).catch(async (error: unknown) => {
    await release()
    throw error
  })
  started()
  const released = sandbox.ended.then(release).catch((error: unknown) => {
    log.error('a sandbox was not cleared away', { error, session_id: target.session })
  })
  await mounted.started(sandbox).catch(async (error: unknown) => {
    await sandbox.close()
    throw error
  })
  return { sandbox, mounted, released }
}

/** Mounts the kinds and opens the gate at the same time. When one fails, ends the other. */
async function mountBesideGate(kinds: SandboxPoolDeps['kinds'], target: MountTarget) {
  const mounting = mountKinds(kinds, target)
  const opening = target.egress.openGate(target.start)
  try {
    const [mounted, gate] = await Promise.all([mounting, opening])
    return { mounted, gate }
  } catch (error) {
    const [mounted, gate] = await Promise.allSettled([mounting, opening])
    if (gate.status === 'fulfilled') await gate.value.close()
    if (mounted.status === 'fulfilled') await mounted.value.ended()
    throw error
  }
}
