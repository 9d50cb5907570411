/** Boots the real service in this process, with the newest and the oldest official client. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OldestAnthropic from '@anthropic-ai/sdk-oldest'
import {
  dialectsOf,
  createSqliteFile,
  newPostgresUrl,
} from '@steward/server/ground/database/fixture.ts'
import type { StartOverrides } from '@steward/server/start/start.ts'
import { startService } from '@steward/server/start/start.ts'
import { readConfig } from '@steward/server/ground/config/config.ts'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database, Databases } from '@steward/server/ground/database/database.ts'
import { checkedFetch } from './client-answers.ts'
import { invitationToken } from './invitations.ts'
import { inviteByOperator } from '@steward/server/tenants/members/operator-invitations.ts'
import type { Role } from '@steward/server/ground/core/security/roles.ts'
import { createKey, createWorkspace } from '@steward/server/tenants/workspaces/create.ts'
import { initialWorkspace } from '@steward/server/tenants/workspaces/initial-workspace.ts'

export const rootSecret = 'a root secret for conformance'
export const adminKey = 'conformance-admin-key'

export type LooseBody = { [key: string]: unknown; id: string; data: LooseBody[] }

/** Clients of a running service, in this process or another. */
export type ServiceClients = {
  base: string
  client: Anthropic
  /** The oldest client that supports this interface. */
  oldest: OldestAnthropic
  /** Sends a request in the interface's own dialect. */
  raw(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>
  /** Like `raw`, with the body parsed as JSON; `null` when there is no body. */
  ask<T = LooseBody>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; body: T }>
}

export type TestService = ServiceClients & {
  dataDir: string
  /** Creates another tenant and returns its id and admin key. */
  otherWorkspace(name: string): Promise<{ workspace: string; key: string }>
  /** Creates a key as the operator's command does. */
  operatorKey(
    workspace: string,
    made: { name: string; admin: boolean },
  ): ReturnType<typeof createKey>
  /** Invites a person as the operator's command does. Returns the token of the link. */
  invite(workspace: string, role: Role): Promise<string>
  /** The control database, for facts that no answer shows. Tenants share it unless each tenant has its own database. */
  database: Database
  /** The database of the first workspace. */
  tenantDatabase: Database
  databases: Databases
  /** Log lines of the server. */
  logged: string[]
  close(): Promise<void>
}

/** The settings of another service on the Postgres and the store of files of this one. */
export const besideService = (url: string, { dataDir }: TestService) => ({
  DATABASE_URL: url,
  STORE_BACKENDS: JSON.stringify({ blobs: { type: 'disk', dir: join(dataDir, 'blobs') } }),
})

/** The databases that the service supports. */
export const databases = ['sqlite', 'postgres'] as const

/** The databases that a scenario runs on in this test run. */
export const scenarioDatabases = dialectsOf

export async function boot(
  database: (typeof databases)[number],
  { env = {}, overrides = {} }: { env?: Record<string, string>; overrides?: StartOverrides } = {},
): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'steward-conformance-'))
  if (database === 'sqlite') await createSqliteFile(dataDir)
  const read = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    SANDBOX_DIR: join(dataDir, 'sandboxes'),
    PLATFORM_ROOT_SECRET: rootSecret,
    API_KEY: adminKey,
    EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
    STEWARD_OFFLINE_THINK_MS: '0',
    // Tests with a second workspace ask more than the usual limits allow.
    RATE_LIMITS: 'off',
    EGRESS_TENANT_TARGETS: '127.0.0.0/8:*,[::1]:*',
    ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
    PER_TENANT_DB_ENABLED: process.env['STEWARD_TEST_PER_TENANT'] ?? 'false',
    ...env,
  })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const logged: string[] = []
  let opened: Database | undefined
  let databases: Databases | undefined
  const keepDatabase = (built: Database): Database => {
    opened = overrides.database?.(built) ?? built
    return opened
  }
  const keepDatabases = (built: Databases) => {
    databases = built
  }
  const log = jsonLog((line) => logged.push(line), 'debug')
  const running = await startService(read.config, log, {
    ...overrides,
    database: keepDatabase,
    opened: keepDatabases,
  })
  if (!opened || !databases) throw new Error('the service was started without a database')
  const kept = opened
  const deps = { databases, clock: systemClock }
  const clients = clientsOf(`http://127.0.0.1:${running.port}`)
  return {
    ...clients,
    dataDir,
    logged,
    database: kept,
    tenantDatabase: await firstTenantDatabase(databases, kept),
    databases,
    otherWorkspace: (name) => createWorkspace(deps, name),
    operatorKey: (workspace, made) => createKey(deps, workspace, made),
    async invite(workspace, role) {
      const { url } = await inviteByOperator(deps, { workspace, role, base: clients.base })
      return invitationToken(url)
    },
    async close() {
      try {
        await checkKeptEvents(clients)
      } finally {
        await running.close()
      }
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The control database when tenants share it or no workspace exists yet. */
async function firstTenantDatabase(databases: Databases, control: Database): Promise<Database> {
  const first = databases.isShared ? undefined : await control.write(initialWorkspace)
  return first === undefined ? control : databases.open(first)
}

/** Reads all stored events of all sessions through both clients, whose answers are checked against their types. */
async function checkKeptEvents({ client, oldest }: ServiceClients): Promise<void> {
  for await (const { id } of client.beta.sessions.list({ include_archived: true, limit: 1000 }))
    for (const each of [client, oldest])
      for await (const _event of each.beta.sessions.events.list(id, { limit: 1000 }));
}

const newestFetch = checkedFetch('@anthropic-ai/sdk')
const oldestFetch = checkedFetch('@anthropic-ai/sdk-oldest')

export function clientsOf(base: string, key = adminKey): ServiceClients {
  const raw: ServiceClients['raw'] = (method, path, body, headers = {}) =>
    fetch(base + path, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return {
    base,
    client: new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0, fetch: newestFetch }),
    oldest: new OldestAnthropic({ baseURL: base, apiKey: key, maxRetries: 0, fetch: oldestFetch }),
    raw,
    async ask<T>(...request: Parameters<typeof raw>) {
      const answer = await raw(...request)
      const text = await answer.text()
      const body = (text === '' ? null : JSON.parse(text)) as T
      return { status: answer.status, headers: answer.headers, body }
    },
  }
}
