/**
 * Routes for tests that look at the routes, or that call routes which need only a database. Every other part throws.
 */
import { callCounts } from '../../tenants/audit/call-counts.ts'
import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import type { AppDeps } from './app.ts'
import { createRoutes } from './app.ts'
import { openaiRoutes } from '../openai/app.ts'
import { unusedKeeping } from '../../ground/blobs/fixture.ts'
import { agentIdentity } from '../../engine/egress/identity/keys.ts'
import { claimTokens } from '../../ground/core/security/claim-token.ts'
import { mcpTokens } from '../../ground/core/security/mcp-token.ts'
import { createShare } from '../../ground/core/fairness/share.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import { derivedKey } from '../../ground/core/security/signed-tokens.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { createPeople } from '../../tenants/people/people.ts'
import { limitsFor } from '../../tenants/limits/limits.ts'
import { workspaceChanges } from '../../sessions/events/workspace/changes.ts'
import { resourceKinds } from '../../sessions/resources/kinds.ts'

const rootSecret = 'a root secret for tests'
const never = (): never => assert.fail('nothing beyond the database is asked')

export const routesOver = (database: Database): Route[] => createRoutes(depsOver(database))

export const openaiRoutesOver = (database: Database): Route[] => openaiRoutes(depsOver(database))

/** All routes, with those of `/openai/v1`. */
export function allRoutesOver(database: Database): Route[] {
  const deps = depsOver(database)
  return [...createRoutes(deps), ...openaiRoutes(deps)]
}

function depsOver(database: Database): AppDeps {
  const ground = testGround(database, { seal: createSeal(rootSecret) })
  const mail = { sends: false, post: never }
  return {
    matches: createShare({ total: 1, percent: 100 }),
    ...ground,
    blobStore: { isThere: async () => true },
    people: createPeople(
      {
        keys: [derivedKey(rootSecret, 'session-cookie')],
        publicUrl: undefined,
        base: 'http://localhost',
        providers: [],
        isByProvidersAlone: false,
      },
      {
        ...ground,
        mail,
        admit: undefined,
        personLimits: undefined,
        invited: { isInvited: never, join: never },
        groups: { read: never, begin: never },
      },
    ),
    oauth: {
      clients: {},
      refreshKeys: [derivedKey(rootSecret, 'refresh token')],
      identities: { identify: never, isToken: never },
    },
    integrations: {
      apps: new Map(),
      send: never,
      sendToProvider: never,
      downloadFromProvider: never,
      uploadToProvider: never,
      publicUrl: undefined,
      internalSecret: undefined,
      slackSocket: undefined,
      close: never,
    },
    authenticate: never,
    changes: workspaceChanges(ground),
    streams: { enter: never, close: never },
    openAnswers: { hold: never, keyIds: never, endAll: never },
    limits: limitsFor('off', ground),
    fallbackKeys: { anthropic: undefined, openai: undefined, google: undefined },
    modelProviders: [],
    cloudIdentityWorkspaces: [],
    offlineModel: true,
    prices: new Map(),
    allowed: {},
    retentionDays: { usual: {}, most: {} },
    resolveModel: async () => never(),
    tryReferences: never,
    egress: {
      proxy: { find: never, ask: never, close: never },
      remote: { tunnel: never, authorities: never, close: never },
      probe: never,
      validate: never,
      identity: agentIdentity('https://steward.example', [derivedKey(rootSecret, 'identity')]),
    },
    mcpTokens: mcpTokens(derivedKey(rootSecret, 'mcp token')),
    claimTokens: claimTokens(derivedKey(rootSecret, 'claim token')),
    withinClaim: never,
    claimByKey: never,
    specOfModel: never,
    messagesApi: true,
    messageCounting: { begin: never },
    messageSlots: { take: never },
    reachModel: never,
    models: { operator: { send: never }, tenant: { send: never } },
    modelAnswerMs: 60_000,
    work: { idleMs: 1, unclaimedMs: 1 },
    publicUrl: undefined,
    organizationId: undefined,
    keeping: unusedKeeping(ground.databases),
    folders: { find: never, list: never, open: never },
    archives: { within: never, indexer: never, read: never, file: never },
    publishes: true,
    fileLimits: { largest: 1024, uploadsDownloadable: true },
    proxies: new BlockList(),
    heldHere: {
      sessions_running: { held: () => 0 },
      sandboxes: { held: () => 0 },
      streams: { held: () => 0 },
      messages: { held: () => 0 },
      tunnels: { held: () => 0 },
    },
    embeddingModel: 'none',
    kinds: resourceKinds({ seal: ground.seal, repositoryHosts: [], storeAccess: 'read_write' }),
    refuseImage: () => undefined,
    refusePackages: () => undefined,
    workerInputs: [],
    checkpointBytes: 1024,
    checkpointHistory: 10,
    stopping: new AbortController().signal,
    posts: callCounts(),
    version: '1.2.3',
  }
}
