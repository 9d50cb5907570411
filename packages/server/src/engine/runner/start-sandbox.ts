/** Starts the sandbox of a session: restores its files, mounts its resources, opens its gate. */
import { join } from 'node:path'
import { mountKinds } from '@steward/space/mounted-kinds.ts'
import { toldOf } from '@steward/space/workspace/keep.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { SessionPlace } from './mount-kind.ts'
import type { HeldSandbox, StartedSandbox, WorkspaceDeps } from './held.ts'
import { placeOf } from './held.ts'
import type { SandboxPlaces } from './sandbox-places.ts'
import { fromJson } from '../../ground/core/json-text.ts'

/** Holds the place until the sandbox and everything mounted into it has been cleaned up. */
export async function startAt(
  deps: WorkspaceDeps,
  mine: HeldSandbox,
  places: SandboxPlaces,
): Promise<StartedSandbox> {
  const giveBack = await places.take(mine.lease.tenant, mine.waiting.signal)
  try {
    const started = await startSandbox(deps, mine)
    void started.released.then(giveBack)
    return started
  } catch (error) {
    giveBack()
    throw error
  }
}

async function startSandbox(deps: WorkspaceDeps, mine: HeldSandbox): Promise<StartedSandbox> {
  const { provider, folder } = deps
  const { lease, egress } = mine
  const { tenant, session, environment } = lease
  const place = placeOf(folder, session)
  const own = join(folder, session)
  await provider.reap(place)
  const arrival = await deps.checkpoints.arrive({ tenant, session, own })
  const told = toldOf(arrival)
  if (told) mine.notices.push({ reason: 'sandbox_replaced', message: told, told: true })
  const row = await deps.session(tenant, session)
  const agent = fromJson(row.agent)
  const keep = (events: readonly NewEvent[]) => deps.keep(mine.lease, events)
  const isPrefilled = arrival.kind === 'restored'
  const isKnown = arrival.kind === 'here' || isPrefilled
  return startMounted(
    deps,
    { ...place, isPrefilled },
    {
      tenant,
      session,
      row,
      agent,
      environment,
      folder: own,
      egress,
      isKnown,
      keep,
    },
  )
}

/** Opens the gate and mounts the kinds before the sandbox starts, and closes both after the sandbox has ended. */
async function startMounted(
  { provider, kinds, limits, log }: WorkspaceDeps,
  paths: ReturnType<typeof placeOf> & { isPrefilled: boolean },
  place: SessionPlace,
): Promise<StartedSandbox> {
  const mounted = await mountKinds(kinds, place)
  const gate = await place.egress.openGate(place.folder).catch(async (error: unknown) => {
    await mounted.ended()
    throw error
  })
  const release = async () => {
    await gate.close()
    await mounted.ended()
  }
  const env = { ...mounted.env, ...place.environment.env, ...gate.env }
  const { mounts, path, layer } = mounted
  const image = place.environment.base_image
  const spec = {
    ...paths,
    env,
    limits,
    egress: gate,
    mounts,
    path,
    ...(image !== null && { image }),
    ...(layer !== undefined && { layer }),
  }
  const sandbox = await provider.acquire(spec).catch(async (error: unknown) => {
    await release()
    throw error
  })
  const released = sandbox.ended.then(release).catch((error: unknown) => {
    log.error('a sandbox was not cleared away', { error, session_id: place.session })
  })
  await mounted.started(sandbox).catch(async (error: unknown) => {
    await sandbox.close()
    throw error
  })
  return { sandbox, mounted, released }
}
