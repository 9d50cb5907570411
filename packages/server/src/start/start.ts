/** Builds and stops the server. The only room that names an adapter. */
import type { Server } from 'node:http'
import { createApp } from '../surfaces/v1/app.ts'
import type { Config } from '../ground/config/config.ts'
import { serverProgram } from '../ground/config/settings.ts'
import { closeParts, closingParts } from '../ground/core/time/closing-parts.ts'
import { explainListenFailure } from '@steward/base/listening.ts'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import { withdrawRootKey } from '../ground/database/root-key.ts'
import { stopListening, startHttpServer } from '../ground/http/server.ts'
import { createOpenAnswers } from '../ground/http/open-answers.ts'
import type { Streams } from '../ground/http/streams.ts'
import { createStreams } from '../ground/http/streams.ts'
import { referenceTrial } from '../engine/egress/company-secrets/reference-trial.ts'
import { specOfModel } from '../resources/model-cards/resolve.ts'
import { rateLimitJobs } from '../tenants/limits/job.ts'
import { limitsFor } from '../tenants/limits/limits.ts'
import type { NameOverride } from './diallers.ts'
import { createUpstreams } from './diallers.ts'
import { capabilityJobs } from './capabilities.ts'
import { createFolders } from './folders.ts'
import { startServerJobs } from './jobs.ts'
import { watchLimits } from './limit-changes.ts'
import { loadLibraries } from './libraries.ts'
import { openMessages } from './messages.ts'
import { openParts } from './parts.ts'
import { showFirstLink } from './people.ts'
import { workspaceRemoval } from './removal.ts'
import { heldHere, serverQuotas, createShares } from './shares.ts'
import { openAuditStream } from './audit-stream.ts'
import { openTelemetry } from './telemetry.ts'
import { keysFor } from './storage.ts'
import type { DataOverrides } from './data.ts'
import { openData } from './data.ts'
import { authenticationFor } from './authentication.ts'

export const serverVersion = '0.1.0'

/** Replacements that a test gives for built parts. */
export type StartOverrides = DataOverrides & { nameOverride?: NameOverride }

/** The time that open answers get when the server stops, after its turns were left. */
const lastAnswersMs = 2_000
/** The time that the last writes of turns get when the database does not answer. */
const lastWritesMs = 45_000
/** The time that storing checkpoints gets at a stop: checkpoints may be large. */
const lastWorkspacesMs = 300_000

export type RunningServer = { port: number; close(): Promise<void> }

/** Stops listening before the streams end, so that no client comes back to this server. */
function endConnections(server: Server, streams: Streams, clock: Clock): Promise<void> {
  const end = stopListening(server, clock)
  streams.close()
  return end(lastAnswersMs)
}

/** The settings that routes read. */
const routeSettings = (config: Config) => ({
  fallbackKeys: config.fallbackKeys,
  modelProviders: config.modelProviders,
  cloudIdentityWorkspaces: config.cloudIdentityWorkspaces,
  offlineModel: config.offlineModel,
  allowed: config.allowed,
  retentionDays: config.retentionDays,
  prices: config.prices,
  embeddingModel: config.embeddingModel,
  proxies: config.trustedProxies,
  fileLimits: config.files,
  modelAnswerMs: config.modelAnswerMs,
  work: config.work,
  checkpointBytes: config.checkpoints.largest,
  checkpointHistory: config.checkpoints.history,
  publicUrl: config.publicUrl,
  organizationId: config.webhooks.organization,
  publishes: config.publishes,
})

export async function startService(
  config: Config,
  log: Log,
  overrides: StartOverrides = {},
): Promise<RunningServer> {
  const { ground, database } = await openData(config, log, overrides)
  const { databases, bus, clock } = ground
  const limits = limitsFor(config.rateLimits, ground, serverQuotas(config), config.allowed)
  const shares = createShares(config, limits.quotas)
  const limitChanges = watchLimits(config, bus)
  const telemetry = await openTelemetry(config, ground, shares)
  const parts = await openParts(config, {
    ...ground,
    shares,
    limits,
    traceparentOf: telemetry.traceparentOf,
    override: overrides.nameOverride,
  })
  const { blobStore, companySecrets, integrations, keeping, kinds } = parts
  const { diallers, packages, refusals, repositories } = parts
  const { resolveModel, skills, sandboxPool, turns, egress, webhooks } = parts
  const models = createUpstreams(diallers, config)
  const messages = openMessages(config, { ...ground, limits, shares })
  const auditStream = await openAuditStream(config, ground, diallers)
  const streams = createStreams(shares.streams)
  const openAnswers = createOpenAnswers()
  const stopping = new AbortController()
  const { changes, identities, ...authentication } = authenticationFor(config, {
    ...ground,
    limits,
  })
  const { matches } = shares
  const opening = { ...ground, ...refusals, resolveModel, limits, kinds, keeping, matches }
  const { server, port } = await explainListenFailure(
    serverProgram.settings.port.name,
    startHttpServer(
      createApp({
        ...opening,
        ...routeSettings(config),
        blobStore,
        integrations,
        version: serverVersion,
        stopping: stopping.signal,
        ...authentication,
        changes,
        tryReferences: referenceTrial(companySecrets),
        egress,
        ...messages,
        ...createFolders(config, { ...ground, keeping, share: shares.folders }),
        streams,
        openAnswers,
        heldHere: heldHere(shares),
        specOfModel: specOfModel({ ...ground, ...config }),
        models,
      }),
      config,
    ),
  )
  await showFirstLink(config, ground, port)
  const ofParts = [repositories, packages, skills, sandboxPool].map(({ job }) => job)
  const auditKeys = keysFor(config, 'audit')
  const ofServer = { ...ground, keeping, auditKeys, answers: openAnswers, identities }
  const jobs = startServerJobs(config, ofServer, [
    ...turns.jobs,
    ...webhooks.jobs,
    ...authentication.jobs,
    ...rateLimitJobs(databases),
    workspaceRemoval(config, { ...ground, blobs: keeping.blobs, sandboxPool }),
    ...ofParts,
    ...sandboxPool.jobs,
    egress.job,
    messages.messageCounting.job,
    ...auditStream.jobs,
    ...capabilityJobs(config, { ...opening, ...integrations }),
  ])
  loadLibraries({ ...ground, operator: config, stopping: stopping.signal })

  return {
    port,
    async close() {
      stopping.abort()
      const held = { changes, packages, sandboxes: sandboxPool, egress, companySecrets, models }
      await closeParts(
        [
          { name: 'turns', close: () => turns.stop(), limitMs: config.stopMs + lastWritesMs },
          { name: 'connections', close: () => endConnections(server, streams, clock) },
          { name: 'job of folders', close: () => jobs.stop(sandboxPool.job.name) },
          ...closingParts(held, { sandboxes: lastWorkspacesMs }),
          { name: 'jobs', close: () => jobs.stop() },
          ...closingParts({ webhooks, integrations, limitChanges, auditStream, bus, telemetry }),
          { name: 'root key', close: () => withdrawRootKey(database) },
          ...closingParts({ databases }),
        ],
        ground,
      )
    },
  }
}
