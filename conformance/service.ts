/** Boots the service for real, in this process, and hands out the official client, newest and oldest. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OldestAnthropic from '@anthropic-ai/sdk-oldest'
import { newPostgresUrl } from '@steward/server/database/fixture.ts'
import type { Overrides } from '@steward/server/start.ts'
import { start } from '@steward/server/start.ts'
import { readConfig } from '@steward/server/config.ts'
import { jsonLog } from '@steward/server/core/log.ts'

export const rootSecret = 'a root secret for conformance'
export const adminKey = 'conformance-admin-key'

export type Service = {
  base: string
  dataDir: string
  client: Anthropic
  /** The oldest client that speaks this contract. */
  oldest: OldestAnthropic
  /** A request in the interface's own dialect. */
  raw(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** What the server has logged. */
  logged: string[]
  close(): Promise<void>
}

/** One name for each database that scenarios run on. */
export const databases = ['sqlite', 'postgres'] as const

export async function boot(
  database: (typeof databases)[number],
  { env = {}, overrides = {} }: { env?: Record<string, string>; overrides?: Overrides } = {},
): Promise<Service> {
  const dataDir = await mkdtemp(join(tmpdir(), 'steward-conformance-'))
  const read = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    SANDBOX_DIR: join(dataDir, 'sandboxes'),
    PLATFORM_ROOT_SECRET: rootSecret,
    API_KEY: adminKey,
    EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
    ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
    ...env,
  })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const logged: string[] = []
  const running = await start(read.config, jsonLog((line) => logged.push(line), 'debug'), overrides)
  const base = `http://127.0.0.1:${running.port}`
  return {
    base,
    dataDir,
    logged,
    client: new Anthropic({ baseURL: base, apiKey: adminKey, maxRetries: 0 }),
    oldest: new OldestAnthropic({ baseURL: base, apiKey: adminKey, maxRetries: 0 }),
    raw: (method, path, body, headers = {}) =>
      fetch(base + path, {
        method,
        headers: { 'x-api-key': adminKey, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    async close() {
      await running.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
