/**
 * Mounts the installed packages of an environment into its sandboxes: system packages at their places, the others below
 * one prefix. The first session that needs the packages starts their build. [environments/packages/installed]
 */
import { join } from 'node:path'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { packageManagers } from '@steward/protocol/packages.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Log } from '@steward/base/log.ts'
import type { MountKind, MountTarget } from '../runner/sandboxes/mount-kind.ts'
import type { Layers } from './layers.ts'
import { installVariables, packagesPrefix } from './managers.ts'
import type { InstallProgress } from './step.ts'
import { BuildFailure } from './step.ts'

const linesOfMessage = 10

export function mountPackages({ layers, log }: { layers: Layers; log: Log }): MountKind {
  return async (target) => {
    const { packages, base_image } = target.environment
    const used = packageManagers.filter((manager) => packages[manager].length > 0)
    if (used.length === 0) return {}
    const taken = await take(layers, target, { packages, base_image }, log)
    const { path } = taken
    const isLayered = used.includes('apt')
    return {
      ...(used.some((manager) => manager !== 'apt') && {
        mounts: [{ source: join(path, 'prefix'), path: packagesPrefix, access: 'read' }],
      }),
      ...(isLayered && { layer: join(path, 'system') }),
      ...installVariables(used),
      ended: async () => taken.release(),
    }
  }
}

async function take(
  layers: Layers,
  target: MountTarget,
  { packages, base_image }: Pick<EnvironmentRecord, 'packages' | 'base_image'>,
  log: Log,
) {
  let kept: Promise<unknown> = Promise.resolve()
  const tell: InstallProgress = (news) => {
    const event = { id: newId('event'), type: 'session.environment_build', ...news } as const
    const tellNow = () => target.keep([event])
    // Progress events are appended in order. An event that cannot be stored stops nothing.
    kept = kept
      .then(tellNow)
      .catch((error: unknown) =>
        log.warn('progress of a build was not stored', { error, session_id: target.session }),
      )
  }
  try {
    const wanted = { packages, image: base_image ?? undefined }
    return await layers.take(target.tenant, wanted, tell)
  } catch (error) {
    if (!(error instanceof BuildFailure)) throw error
    throw new TurnFailed({ type: 'unknown_error', message: messageOf(error) }, { cause: error })
  } finally {
    await kept
  }
}

function messageOf({ manager, message, lines }: BuildFailure): string {
  const whose = manager === null ? 'the packages of the environment' : `the packages of ${manager}`
  return [`${whose} could not be installed: ${message}`, ...lines.slice(-linesOfMessage)].join('\n')
}
