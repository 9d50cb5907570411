/** The call or command that brings changes about. Its units write the lines of the audit from it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sealed } from './seal.ts'

export type AuditActor = {
  type: 'api_key' | 'user' | 'environment_key' | 'worker' | 'operator' | 'anonymous'
  id: string | null
  /** As it was at the time of the line: the person or the key may be deleted later. */
  name: string | null
}

export type AuditCredential = {
  type: 'api_key' | 'sign_in' | 'environment_key' | 'claim' | 'mcp_token' | 'command' | 'none'
  id: string | null
}

export type AuditResource = { type: string; id: string | null; parent: string | null }

export type AuditedCall = {
  /** Whose chain the lines are in; empty for the deployment's. */
  workspace: string
  action: string
  resource: AuditResource
  actor: AuditActor
  credential: AuditCredential
  address: string | null
  userAgent: string | null
  request: { id: string; method: string; route: string } | null
  /** Whether the call has a line even where nothing tells of a change. */
  isAutomatic: boolean
}

export type AuditFields = Readonly<Record<string, unknown>>
/** Fields without a sealed value: no such value can be told. */
type UnsealedFields<Fields> = {
  [Name in keyof Fields]: Extract<Fields[Name], Sealed> extends never ? Fields[Name] : never
}

/** What a store tells of a change within a unit. */
export type AuditedChange = {
  /** Of the resource. A change of another type than the call's is left out, unless it names an action. */
  type: string
  id?: string | null
  before?: AuditFields | null
  after?: AuditFields | null
  /** A line of its own. */
  action?: string
  /** Where the line is in another chain than the call's. */
  workspace?: string
  /** Where the call does not know yet who acts. */
  actor?: AuditActor
  address?: string
  parent?: string | null
}

/** For a job that tells of what callers did before. Its units have the lines that are told, and no other. */
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

/** Runs what the call does. Units that begin after its end are none of its own. */
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

/** For units that only prepare a change: they have no line. */
export const runUnaudited = <T>(work: () => Promise<T>): Promise<T> => contexts.run(undefined, work)

/** Undefined outside of a call, and after its end. */
export function openCall(): CallContext | undefined {
  const context = contexts.getStore()
  return context?.isOver === false ? context : undefined
}

/** Runs a unit, whose changes are told into the list. */
export const collectChanges = <T>(told: AuditedChange[], unit: () => Promise<T>): Promise<T> =>
  units.run(told, unit)

/** Tells the unit under way of a change. Does nothing in units that have no audit. */
export function auditChange<Before extends object, After extends object>(
  change: Omit<AuditedChange, 'before' | 'after'> & {
    before?: (Before & UnsealedFields<Before>) | null
    after?: (After & UnsealedFields<After>) | null
  },
): void {
  units.getStore()?.push(change as AuditedChange)
}

/** Tells the unit under way of the workspace that a command, or a call of the deployment, is about: its chain has the line too. */
export function auditWorkspace(workspace: string): void {
  units.getStore()?.push({ type: workspaceChange, workspace })
}
export const workspaceChange = 'place'

/** Whether a unit under way would write what it is told, so that nothing is computed in vain. */
export const isAudited = (): boolean => units.getStore() !== undefined
