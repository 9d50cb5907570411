/** The call or command that causes changes. The units within the call write its audit lines. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sealed } from './seal.ts'

export type AuditActor = {
  /** `api_key`, `user`, `subject`, `environment_key`, `worker`, `operator`, `anonymous`, or the type of an `ActingThing`. */
  type: string
  id: string | null
  /** The name when the line was written: the person or the key may be deleted later. */
  name: string | null
}

/** What acts without a person: at a time, for a request of another system, or by itself. */
export type ActingThing = {
  type: 'deployment' | 'eval_run' | 'dream' | 'publication' | 'session'
  id: string
  name: string | null
}

export type AuditCredential = {
  type:
    | 'api_key'
    | 'sign_in'
    | 'login'
    | 'environment_key'
    | 'claim'
    | 'mcp_token'
    | 'identity_token'
    | 'command'
    | 'none'
  id: string | null
}

export type AuditResource = { type: string; id: string | null; parent: string | null }

export type AuditedCall = {
  /** The workspace whose chain has the lines. Empty: the chain of the deployment. */
  workspace: string
  action: string
  resource: AuditResource
  actor: AuditActor
  credential: AuditCredential
  address: string | null
  userAgent: string | null
  request: { id: string; method: string; route: string } | null
  /** True when the call has a line of its own, also where no store reports a change. */
  isAutomatic: boolean
}

export type AuditFields = Readonly<Record<string, unknown>>
/** Refuses, as a type, fields with a sealed value: the audit never holds one. */
type UnsealedFields<Fields> = {
  [Name in keyof Fields]: Extract<Fields[Name], Sealed> extends never ? Fields[Name] : never
}

/** A change that a store reports within a unit. */
export type AuditedChange = {
  /** The type of the resource. A change of another type than the call's is dropped unless it has an `action`. */
  type: string
  id?: string | null
  before?: AuditFields | null
  after?: AuditFields | null
  /** Set: the change has a line of its own, with this action. */
  action?: string
  /** Set when the line belongs to another chain than the call's. */
  workspace?: string
  /** Set when the call does not know the actor, as at a sign-in. */
  actor?: AuditActor
  address?: string
  parent?: string | null
}

/** The call of a job that reports earlier acts of callers. Its units write only the lines that stores report. */
export function jobCall(action: string): AuditedCall {
  const [type = ''] = action.split('.')
  return {
    workspace: '',
    action,
    resource: { type, id: null, parent: null },
    actor: { type: 'anonymous', id: null, name: null },
    credential: { type: 'none', id: null },
    address: null,
    userAgent: null,
    request: null,
    isAutomatic: false,
  }
}

export type CallContext = { readonly call: AuditedCall; isWritten: boolean; isOver: boolean }

const contexts = new AsyncLocalStorage<CallContext | undefined>()
const units = new AsyncLocalStorage<AuditedChange[]>()

/** Runs the work of a call. Units that begin after the work has ended do not belong to the call. */
export async function runAudited<T>(
  call: AuditedCall,
  run: (context: CallContext) => Promise<T>,
): Promise<T> {
  const context = { call, isWritten: false, isOver: false }
  try {
    return await contexts.run(context, () => run(context))
  } finally {
    context.isOver = true
  }
}

/** Runs units that only prepare a change, such as marks of blobs. They write no audit line. */
export const runUnaudited = <T>(work: () => Promise<T>): Promise<T> => contexts.run(undefined, work)

/** The call that is under way. Undefined outside of a call, and after its end. */
export function openCall(): CallContext | undefined {
  const context = contexts.getStore()
  return context?.isOver === false ? context : undefined
}

/** Runs a unit. Changes that its stores report are added to the list. */
export const collectChanges = <T>(told: AuditedChange[], unit: () => Promise<T>): Promise<T> =>
  units.run(told, unit)

/** Reports a change to the unit under way. Does nothing in a unit without an audit. */
export function auditChange<Before extends object, After extends object>(
  change: Omit<AuditedChange, 'before' | 'after'> & {
    before?: (Before & UnsealedFields<Before>) | null
    after?: (After & UnsealedFields<After>) | null
  },
): void {
  units.getStore()?.push(change as AuditedChange)
}

/** Names the workspace that a command, or a call of the deployment, changes: the workspace's chain has the line too. */
export function auditWorkspace(workspace: string): void {
  units.getStore()?.push({ type: workspaceChange, workspace })
}
/** The type of an `AuditedChange` that only names a workspace. */
export const workspaceChange = 'place'

/** True when the unit under way writes reported changes. Check it before computing a costly change. */
export const isAudited = (): boolean => units.getStore() !== undefined
