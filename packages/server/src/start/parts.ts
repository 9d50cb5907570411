/** The parts that sessions run with: connections to the outside, blobs, sandboxes and turns. */
import { resolve } from 'node:path'
import { noSandboxesHere } from '@steward/sandbox/no-sandboxes.ts'
import { agentIdentity } from '../engine/egress/identity/keys.ts'
import { createCompanySecrets } from '../engine/egress/company-secrets/company-secrets.ts'
import { createEgress } from '../engine/egress/egress.ts'
import { inlineTokens } from '../engine/egress/callers/inline.ts'
import { withinSpendLimits } from '../engine/models/spend-limited.ts'
import { withinModelRules } from '../engine/models/within-rules.ts'
import { createInstalls } from '../engine/installs/packages.ts'
import type { TraceparentOf } from '../engine/runner/assemble.ts'
import { blobKeeping } from '../ground/blobs/blob-keeping.ts'
import { checkBlobStore } from '../ground/blobs/blob-store-mark.ts'
import { baseUrl } from '../ground/config/base-url.ts'
import type { Config } from '../ground/config/config.ts'
import { derivedKey } from '../ground/core/security/signed-tokens.ts'
import type { Ground } from '../ground/ground.ts'
import { heldByCheckpoint } from '../resources/checkpoints/store.ts'
import { heldByFile } from '../resources/files/store.ts'
import { conversationNames } from '../resources/model-cards/conversation-names.ts'
import { modelResolver } from '../resources/model-cards/resolve.ts'
import { heldBySkill } from '../resources/skills/store.ts'
import { resourceKinds } from '../sessions/resources/kinds.ts'
import { sessionAutomations } from '../capabilities/deployments/of-session.ts'
import { openIntegrations } from '../capabilities/integrations/open.ts'
import { publicationTools } from '../capabilities/integrations/pull-requests/session-tools.ts'
import { openWebhooks } from '../tenants/webhooks/webhooks.ts'
import type { Diallers, NameOverride } from './diallers.ts'
import { createDiallers } from './diallers.ts'
import { configuredLimits, startSandboxProvider } from './sandboxes.ts'
import type { Limits } from '../tenants/limits/limits.ts'
import type { Shares } from './shares.ts'
import { createRepositories, createSkills, createSandboxPool } from './sandbox-pool.ts'
import { configuredManagers } from './secret-managers.ts'
import { keysFor, openBlobs } from './storage.ts'
import { createTurns } from './turns.ts'
import type { Refusals } from '../sessions/resources/supported.ts'

type PartsDeps = Ground & {
  shares: Shares
  limits: Limits
  traceparentOf: TraceparentOf
  override: NameOverride | undefined
}

function openEgress(
  config: Config,
  {
    shares,
    limits,
    diallers,
    ...ground
  }: Ground & Pick<PartsDeps, 'shares' | 'limits'> & { diallers: Diallers },
) {
  const managers = configuredManagers(config, ground.clock)
  const companySecrets = createCompanySecrets({ ...ground, managers })
  const identity = agentIdentity(
    config.agentIdentityIssuer ?? baseUrl(config, config.port),
    keysFor(config, 'agent identity'),
  )
  const egress = createEgress({
    ...ground,
    companySecrets,
    profile: config.egressProfile,
    ...diallers.tenant,
    operatorConnect: diallers.operator.connect,
    rules: limits.rules,
    placeholderKey: derivedKey(config.rootSecret, 'placeholders'),
    authorityKeys: keysFor(config, 'sandbox authority'),
    identity,
    connections: shares.connections,
    mostConnections: config.shares.connections,
    folder: resolve(config.dataDir, 'egress'),
  })
  return { companySecrets, egress }
}

export async function openParts(
  config: Config,
  { shares, limits, traceparentOf, override, ...ground }: PartsDeps,
) {
  const { databases, clock, log, seal } = ground
  const diallers = createDiallers(config, ground, override)
  const blobs = await openBlobs(config, diallers.operator.agent)
  const blobStore = await checkBlobStore(databases.control, blobs)
  const holders = [heldByFile, heldBySkill, heldByCheckpoint]
  const keeping = blobKeeping({ databases, blobs, clock, holders })
  const webhooks = await openWebhooks(config.webhooks, { ...ground, diallers, rules: limits.rules })
  const { companySecrets, egress } = openEgress(config, { ...ground, shares, limits, diallers })
  const integrations = openIntegrations(config, diallers)
  const provider = await startSandboxProvider(config, log)
  const repositories = createRepositories(config, {
    ...ground,
    connect: diallers.tenant.connect,
    provider,
    share: shares.fetches,
  })
  const packages = createInstalls({
    ...ground,
    provider,
    config,
    limits: configuredLimits(config),
    registry: diallers.operator,
    share: shares.builds,
  })
  const kinds = resourceKinds({
    seal,
    repositoryHosts: config.repositoryHosts,
    // Commands of the local provider see stores at other paths than those whose changes are collected.
    storeAccess: config.sandbox === 'local' ? 'read_only' : 'read_write',
  })
  const skills = createSkills(config, ground, blobs)
  const sandboxPool = createSandboxPool(config, {
    ...ground,
    provider,
    keeping,
    mounts: {
      packages: packages.kind,
      repositories: repositories.kind,
      repositorySkills: repositories.skills,
      skills: skills.ofSessions.mount,
    },
    bind: egress.bind,
    share: shares.sandboxes,
    quotas: limits.quotas,
    rules: limits.rules,
  })
  const nameConversation = conversationNames(config)
  const resolver = modelResolver({ ...config, ...ground, nameConversation })
  const resolveModel = withinSpendLimits(withinModelRules(resolver, limits.rules), limits.spending)
  const automations = sessionAutomations(ground)
  const turns = createTurns(config, {
    ...ground,
    blobs,
    sandboxPool,
    resolveModel,
    rules: limits.rules,
    inlineTokens: async (row) =>
      inlineTokens((await databases.open(row.tenant_id)).read, seal, row),
    skills: skills.ofSessions,
    kinds,
    givenTools: (...asked) =>
      publicationTools({ ...ground, ...integrations, automations }, ...asked),
    shares,
    traceparentOf,
    automations,
  })
  const refusals: Refusals = {
    ...(config.sandbox === 'none' && { noSandboxes: noSandboxesHere }),
    refuseImage: (reference) => provider.refuseImage(reference),
    refusePackages: packages.refuse,
    workerInputs: config.workerInputs,
  }
  return {
    blobStore,
    companySecrets,
    integrations,
    keeping,
    kinds,
    diallers,
    packages,
    refusals,
    repositories,
    resolveModel,
    skills,
    sandboxPool,
    turns,
    egress,
    webhooks,
  }
}
