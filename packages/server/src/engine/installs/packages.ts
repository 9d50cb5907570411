/** Builds the installs room from its settings. */
import { resolve } from 'node:path'
import type { SandboxLimits, SandboxProvider } from '@steward/sandbox/sandbox.ts'
import type { Config } from '../../ground/config/config.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import { rowLease } from '../../ground/database/row-lease.ts'
import type { Ground } from '../../ground/ground.ts'
import type { RefusePackages } from '../../sessions/resources/supported.ts'
import { refuseApt } from './apt.ts'
import { createLayerBuilder } from './build.ts'
import { mountPackages } from './mount.ts'
import type { RegistryAccess } from './gate.ts'
import { createLayerIdentifier } from './identity.ts'
import { hourMs } from '@steward/base/settings/kinds.ts'
import { createLayers } from './layers.ts'

type PackagesDeps = Ground & {
  config: Config
  provider: SandboxProvider
  limits: SandboxLimits
  registry: RegistryAccess
  /** The tenants' shares of this process's builds. */
  share: Share
}

const notIsolated =
  'the sandboxes of this server (local) isolate nothing, and nothing is installed for them'

export function createInstalls(deps: PackagesDeps) {
  const { config, databases, provider, limits, registry: outside, share, clock, log } = deps
  const { sources, buildMs: timeoutMs, largest, keptMs } = config.packages
  const held = createLayers({
    folder: resolve(config.dataDir, 'packages'),
    identify: createLayerIdentifier(provider, sources, config.sandboxImage),
    build: createLayerBuilder({
      provider,
      limits,
      registry: outside,
      sources,
      largest,
      timeoutMs,
      clock,
    }),
    leaseOf: async (tenant, layer) =>
      rowLease(await databases.open(tenant), 'package_builds', { tenant_id: tenant, layer }),
    share,
    keptMs,
    clock,
    log,
  })
  const refuse: RefusePackages = (manager, image) => {
    if (config.sandbox === 'local') return notIsolated
    return manager === 'apt' ? refuseApt(provider.systemOf(image)) : undefined
  }
  return {
    kind: mountPackages({ layers: held, log }),
    refuse,
    job: { name: 'remove unused installs', everyMs: hourMs, run: () => held.removeUnused() },
    close: () => held.close(),
  }
}
