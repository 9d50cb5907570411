import type { AllowLists, RetentionDays } from '@steward/protocol/rules.ts'
import { creatorGroup } from './creator.ts'
import { json, nullable, number, table, text } from '../table.ts'

/** Rules of a company: what a workspace allows, how long it keeps what it has, and what must stay. */
export const ruleTables = {
  workspace_rules: table({
    rows: 'control',
    key: ['tenant_id'],
    columns: {
      tenant_id: text(),
      /** The workspace's own lists. A list that is absent narrows nothing. */
      allowed: json<AllowLists>(),
      /** The workspace's own days. A kind that is absent has the operator's. */
      retention: json<RetentionDays>(),
      updated_at: text(),
    },
  }),
  /** What must stay, in the database whose rows it keeps. */
  holds: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    columns: {
      tenant_id: text(),
      id: text(),
      scope: text<'workspace' | 'session' | 'person'>(),
      /** The session or the person. Empty: the workspace. */
      subject_id: text(),
      reason: text(),
      ...creatorGroup,
      created_at: text(),
      /** Null while the hold is in force. */
      released_at: nullable(text()),
      releaser_type: nullable(text()),
      releaser_id: nullable(text()),
      releaser_name: nullable(text()),
    },
  }),
  /** The holds in force, where workspaces and people are deleted. */
  hold_marks: table({
    rows: 'control',
    key: ['tenant_id', 'hold_id'],
    removed: { elsewhere: 'the release of the hold: no workspace is deleted before' },
    columns: {
      tenant_id: text(),
      hold_id: text(),
      /** The person of a hold of that scope. */
      person_id: nullable(text()),
    },
  }),
  /** People whose names a job still takes out of the rows of workspaces. */
  person_removals: table({
    rows: 'control',
    key: ['person_id'],
    columns: {
      person_id: text(),
      /** The last workspace that is done. Workspaces follow by id. */
      after_tenant: text(),
      /** Rows that were changed so far. */
      changed: number(),
      asked_at: text(),
    },
  }),
}
