/** The parts that sessions run with: connections to the outside, blobs, sandboxes and turns. */
import { resolve } from 'node:path'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import { egress } from '../engine/egress/egress.ts'
import { inlineTokens } from '../engine/egress/callers/inline.ts'
import { withinSpendLimits } from '../engine/models/spend-limited.ts'
import { packagesOf } from '../engine/installs/packages.ts'
import type { TraceparentOf } from '../engine/runner/assemble.ts'
import { blobKeeping } from '../ground/blobs/blob-keeping.ts'
import { checkBlobStore } from '../ground/blobs/blob-store-mark.ts'
import type { Bus } from '../ground/bus/bus.ts'
import type { Config } from '../ground/config/config.ts'
import type { Seal } from '../ground/core/seal.ts'
import { derivedKey } from '../ground/core/signed-tokens.ts'
import type { Databases } from '../ground/database/database.ts'
import { heldByCheckpoint } from '../resources/checkpoints/store.ts'
import { heldByFile } from '../resources/files/store.ts'
import { modelResolver } from '../resources/model-cards/resolve.ts'
import { heldBySkill } from '../resources/skills/store.ts'
import { resourceKinds } from '../sessions/resources/kinds.ts'
import { openIntegrations } from '../capabilities/integrations/open.ts'
import { openWebhooks } from '../tenants/webhooks/webhooks.ts'
import type { NameOverride } from './diallers.ts'
import { diallersOf } from './diallers.ts'
import { limitsOf, sandboxes } from './sandboxes.ts'
import type { Limits } from '../tenants/limits/limits.ts'
import type { Shares } from './shares.ts'
import { repositoriesOf, skillsOf, sandboxPoolOf } from './sandbox-pool.ts'
import { keysFor, openBlobs } from './storage.ts'
import { turnsOf } from './turns.ts'

type PartsDeps = {
  databases: Databases
  bus: Bus
  seal: Seal
  clock: Clock
  log: Log
  shares: Shares
  limits: Pick<Limits, 'quotas' | 'spending'>
  traceparentOf: TraceparentOf
  override: NameOverride | undefined
}

export async function openParts(
  config: Config,
  { databases, bus, seal, clock, log, shares, limits, traceparentOf, override }: PartsDeps,
) {
  const diallers = diallersOf(config, { log, clock }, override)
  const blobs = await openBlobs(config, diallers.operator.agent)
  const blobStore = await checkBlobStore(databases.control, blobs)
  const holders = [heldByFile, heldBySkill, heldByCheckpoint]
  const keeping = blobKeeping({ databases, blobs, clock, holders })
  const ofAll = { databases, clock, log }
  const webhooks = await openWebhooks(config.webhooks, { ...ofAll, bus, seal, diallers })
  const ownEgress = egress({
    databases,
    seal,
    clock,
    log,
    profile: config.egressProfile,
    ...diallers.tenant,
    operatorConnect: diallers.operator.connect,
    placeholderKey: derivedKey(config.rootSecret, 'placeholders'),
    bus,
    authorityKeys: keysFor(config, 'sandbox authority'),
    connections: shares.connections,
    mostConnections: config.shares.connections,
    folder: resolve(config.dataDir, 'egress'),
  })
  const integrations = openIntegrations(config, diallers)
  const provider = await sandboxes(config, log)
  const repositories = repositoriesOf(config, {
    ...ofAll,
    ...diallers.tenant,
    seal,
    provider,
    share: shares.fetches,
  })
  const packages = packagesOf({
    ...ofAll,
    provider,
    config,
    limits: limitsOf(config),
    registry: diallers.operator,
    share: shares.builds,
  })
  const kinds = resourceKinds({
    seal,
    repositoryHosts: config.repositoryHosts,
    // Commands of the local provider see stores at other paths than those whose changes are collected.
    storeAccess: config.sandbox === 'local' ? 'read_only' : 'read_write',
  })
  const skills = skillsOf(config, { databases, clock, blobs })
  const sandboxPool = sandboxPoolOf(config, {
    databases,
    clock,
    log,
    provider,
    keeping,
    mounts: {
      packages: packages.kind,
      repositories: repositories.kind,
      repositorySkills: repositories.skills,
      skills: skills.ofSessions.mount,
    },
    bind: ownEgress.bind,
    share: shares.sandboxes,
    quotas: limits.quotas,
  })
  const resolver = modelResolver({ databases, seal, ...config })
  const resolveModel = withinSpendLimits(resolver, limits.spending)
  const turns = turnsOf(config, {
    databases,
    bus,
    blobs,
    clock,
    log,
    sandboxPool,
    resolveModel,
    inlineTokens: async (row) =>
      inlineTokens((await databases.open(row.tenant_id)).read, seal, row),
    skills: skills.ofSessions,
    kinds,
    shares,
    traceparentOf,
  })
  return {
    blobStore,
    integrations,
    keeping,
    kinds,
    diallers,
    packages,
    provider,
    repositories,
    resolveModel,
    skills,
    sandboxPool,
    turns,
    egress: ownEgress,
    webhooks,
  }
}
