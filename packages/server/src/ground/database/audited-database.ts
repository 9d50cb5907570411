/** A database whose units write audit lines in the same transaction as the change. */
import { createObservation } from '@steward/base/observation.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { AuditedCall, CallContext, AuditedChange } from '../core/security/audited-call.ts'
import { collectChanges, openCall, workspaceChange } from '../core/security/audited-call.ts'
import { newId } from '../core/text/ids.ts'
import { changedFields } from './audit-fields.ts'
import type { Database, Queries } from './database.ts'
import { insertRows } from './statement.ts'
import type { Tables } from './tables.ts'

export const auditLineWritten = createObservation<{ workspace: string }>('audit-line-written')

type AuditLineRow = Tables['audit_lines']

export function auditedDatabase(database: Database, clock: Clock): Database {
  async function write<T>(context: CallContext, unit: (tx: Queries) => Promise<T>): Promise<T> {
    let isMain = false
    let workspaces = new Set<string>()
    const value = await database.write(async (tx) => {
      const told: AuditedChange[] = []
      const made = await collectChanges(told, () => unit(tx))
      isMain = context.call.isAutomatic && !context.isWritten
      const lines = linesOf(context.call, told, { isMain, now: clock.now() })
      if (lines.length > 0) await insertRows(tx, 'audit_lines', lines)
      workspaces = new Set(lines.map(({ tenant_id: id }) => id))
      return made
    })
    if (isMain) context.isWritten = true
    for (const workspace of workspaces) auditLineWritten.tell({ workspace })
    return value
  }
  return {
    ...database,
    write(unit) {
      const context = openCall()
      return context ? write(context, unit) : database.write(unit)
    },
    writeStatement(statement) {
      const context = openCall()
      // One statement has no room for an audit line, so the first write of a call with a line becomes a unit.
      // In other calls such a statement only counts, or claims a lease.
      return context?.call.isAutomatic && !context.isWritten
        ? write(context, statement)
        : database.writeStatement(statement)
    },
  }
}

/** The call's own line, with the changes of its resource, and a line for each change with an action of its own. */
function linesOf(
  call: AuditedCall,
  told: readonly AuditedChange[],
  { isMain, now }: { isMain: boolean; now: number },
): AuditLineRow[] {
  const own = told.filter(({ action }) => action !== undefined)
  const lines = own.map((change) => buildAuditLine(call, change, now))
  if (!isMain) return lines
  const ofResource = told.filter(
    ({ action, type }) => action === undefined && type === call.resource.type,
  )
  const main = mergeChanges(call, ofResource)
  const keys = told.flatMap(({ type, workspace }) =>
    type === workspaceChange ? (workspace ?? []) : [],
  )
  const chains = new Set([call.workspace, ...keys])
  return [
    ...[...chains].map((workspace) => buildAuditLine(call, { ...main, workspace }, now)),
    ...lines,
  ]
}

/** Merges changes into one, from the first state before to the last state after. */
function mergeChanges({ resource }: AuditedCall, changes: readonly AuditedChange[]): AuditedChange {
  const [first] = changes
  const last = changes.at(-1)
  return {
    type: resource.type,
    id: resource.id ?? first?.id ?? null,
    parent: first?.parent ?? resource.parent,
    before: first?.before ?? null,
    after: last?.after ?? null,
  }
}

export function buildAuditLine(
  call: AuditedCall,
  change: AuditedChange,
  now: number,
): AuditLineRow {
  const actor = change.actor ?? call.actor
  return {
    tenant_id: change.workspace ?? call.workspace,
    id: newId('audit_line'),
    action: change.action ?? call.action,
    resource_type: change.type,
    resource_id: change.id ?? null,
    parent_id: change.parent ?? null,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    credential_type: call.credential.type,
    credential_id: call.credential.id,
    address: change.address ?? call.address,
    user_agent: call.userAgent,
    request_id: call.request?.id ?? null,
    method: call.request?.method ?? null,
    route: call.request?.route ?? null,
    ...changedFields(change),
    created_at: iso(now),
    seq: null,
    hash: null,
  }
}
