/** The operator's commands about the audit: `verify` and `export`. */
import { isBuilt } from '@steward/base/own-command.ts'
import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { z } from 'zod'
import { parseNamed } from '@steward/protocol/problems.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Config } from '../../ground/config/config.ts'
import type { AuditedCall } from '../../ground/core/security/audited-call.ts'
import { runAudited } from '../../ground/core/security/audited-call.ts'
import { auditedDatabase } from '../../ground/database/audited-database.ts'
import type { Database, OpenDatabases } from '../../ground/database/database.ts'
import { exportLines } from '../../tenants/audit/lines.ts'
import { signHeadsAnew } from '../../tenants/audit/heads.ts'
import { auditTrails } from '../../tenants/audit/trails/trails.ts'
import { verifyChains } from '../../tenants/audit/verify.ts'
import { workspaceId } from '../../tenants/workspaces/create.ts'
import type { DatabasesBeside } from './beside.ts'
import { databasesBeside } from './beside.ts'
import { keysFor } from '../storage.ts'

export type AuditOptions = {
  workspace?: string | undefined
  from?: string | undefined
  to?: string | undefined
  trail?: string | undefined
  against?: string | undefined
}

/** Opens the databases while servers may run. */
async function withDatabases<T>(
  config: Config,
  work: (databases: OpenDatabases) => Promise<T>,
): Promise<T> {
  const beside = await databasesBeside(config)
  try {
    return await work(beside.databases)
  } finally {
    await beside.close()
  }
}

/** Finds a workspace by its id or name. `deployment` stands for the deployment's own chain. */
async function tenantOf({ control }: OpenDatabases, named: string): Promise<string> {
  return named === 'deployment' ? '' : control.write((tx) => workspaceId(tx, named))
}

const Anchor = z.object({
  workspace_id: z.string().nullable(),
  trail: z.string(),
  last_seq: z.int().nullable(),
  hash: z.string().nullable(),
})

/** Returns undefined for a line that is not JSON. */
function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/**
 * The ends of chains in the output of an earlier verification. A chain that was empty then has no end. What npm writes
 * before the output is skipped.
 */
async function anchorsIn(path: string) {
  const lines = (await readFile(path, 'utf8')).split('\n')
  const first = lines.findIndex((line) => line.startsWith('{'))
  if (first < 0)
    throw new Error(
      `--against: ${path} has no line of an earlier audit verify: make it with ${isBuilt ? 'steward' : 'npm start --silent --'} audit verify > ${path}`,
    )
  const anchors = lines.flatMap((line, index) => {
    if (index < first || line === '') return []
    const anchor = `--against: ${path} is no earlier output of audit verify: line ${index + 1}`
    return [parseNamed(anchor, Anchor, jsonOf(line))]
  })
  return anchors.flatMap(({ last_seq, hash, ...anchor }) =>
    last_seq === null || hash === null ? [] : [{ ...anchor, last_seq, hash }],
  )
}

/** Writes one line of JSON for each chain. Returns false when a chain is damaged. */
export function verifyAudit(
  config: Config,
  { workspace, against }: AuditOptions,
  out: Writable,
): Promise<boolean> {
  return withDatabases(config, async (databases) => {
    const anchors = against === undefined ? [] : await anchorsIn(against)
    const tenant = workspace === undefined ? undefined : await tenantOf(databases, workspace)
    let isWhole = true
    const keys = keysFor(config, 'audit')
    for await (const chain of verifyChains(databases, { keys, tenant, anchors })) {
      isWhole &&= chain.ok
      await write(out, `${JSON.stringify(chain)}\n`)
    }
    return isWhole
  })
}

export function exportAudit(config: Config, options: AuditOptions, out: Writable): Promise<void> {
  const { workspace = 'deployment', trail = 'audit_lines' } = options
  const found = auditTrails.find((each) => each === trail)
  if (!found) throw new Error(`--trail must be one of ${auditTrails.join(', ')}`)
  const range = { trail: found, from: timeOf('from', options), to: timeOf('to', options) }
  return withDatabases(config, async (databases) => {
    const tenant = await tenantOf(databases, workspace)
    const database = tenant === '' ? databases.control : await databases.open(tenant)
    for await (const text of exportLines(database.read, tenant, range)) await write(out, text)
  })
}

function timeOf(name: 'from' | 'to', options: AuditOptions): string | undefined {
  const text = options[name]
  if (text === undefined) return undefined
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new Error(`--${name} must be a time, such as 2026-01-31T00:00:00Z`)
  return new Date(time).toISOString()
}

async function write(out: Writable, text: string): Promise<void> {
  if (!out.write(text)) await once(out, 'drain')
}

/**
 * Runs a command of an operator, such as `rename-workspace`. The deployment's chain and the workspace's chain each get
 * a line about the change.
 */
export function byOperator<T>(
  databases: OpenDatabases,
  command: string,
  run: (databases: OpenDatabases) => Promise<T>,
): Promise<T> {
  const [verb = '', ...words] = command.split('-')
  if (verb === 'list') return run(databases)
  const noun = words.join('_')
  const type = types[noun] ?? noun
  const call: AuditedCall = {
    workspace: '',
    action: `${type}.${verb}`,
    resource: { type, id: null, parent: null },
    actor: { type: 'operator', id: null, name: 'operator by command' },
    credential: { type: 'command', id: null },
    address: null,
    userAgent: null,
    request: null,
    isAutomatic: true,
  }
  const control = auditedDatabase(databases.control, systemClock)
  const open = async (tenant: string) => {
    const database = await databases.open(tenant)
    return database === databases.control ? control : auditedDatabase(database, systemClock)
  }
  return runAudited(call, () => run({ control, open }))
}

/** Nouns of commands that differ from those of routes. */
const types: Record<string, string> = { key: 'api_key', person: 'user', quotas: 'quota' }

/** Signs all chains anew after a change of the root secret. */
export async function signAudit(config: Config, beside: DatabasesBeside): Promise<void> {
  const { control } = beside.databases
  const keys = keysFor(config, 'audit')
  const sign = (database: Database) => database.write((tx) => signHeadsAnew(tx, keys))
  await sign(control)
  for await (const database of beside.holders()) if (database !== control) await sign(database)
}
