/** How sessions handle one type of resource. Each type has its kind, in a file of its noun. */
import type { ToolHost } from '@steward/harness/prompt.ts'
import type {
  FileResource,
  MemoryStoreResource,
  RepositoryResource,
  ResourceType,
} from '@steward/protocol/session-resources.ts'
import type { WorkerInput } from '../../ground/config/config.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { ResourceRow } from '../rows/resources.ts'
import type { SessionRow } from '../rows/sessions.ts'

type AnyParams = FileResource | RepositoryResource | MemoryStoreResource
export type ResourceParams<Type extends ResourceType = ResourceType> = Extract<
  AnyParams,
  { type: Type }
>

/** `at` names the place of the resource in the request. */
export type ResourceRequest = { resource: ResourceParams; at: string }

/** The session and the request that attach a resource. */
export type AttachContext = {
  tenant: string
  session: string
  /** Id of the resource. */
  id: string
  now: number
  /** The session's resources so far. */
  others: readonly ResourceRow[]
  /** Its place in the request, for errors. */
  at: string
}

export type Absence = 'missing' | 'archived'

export type DetachContext = Pick<AttachContext, 'tenant' | 'now'>

/** A part of the system prompt, perhaps empty, by the place of the agent's own tools; undefined: the agent has none. */
export type PromptPart = (toolHost: ToolHost | undefined) => string

type ResourceAttachment<Row> = Row extends unknown
  ? Pick<Row, keyof Row & ('type' | 'mount_path' | 'resolved_path' | 'fields')> &
      Partial<Pick<Row, keyof Row & ('refers_to' | 'sealed_token')>>
  : never

export type ResourceKind<Type extends ResourceType> = {
  /** Checks the request, and returns the kind's part of the row. The caller holds the session. */
  attach: (
    tx: Queries,
    context: AttachContext,
    params: ResourceParams<Type>,
  ) => Promise<ResourceAttachment<ResourceRow<Type>>>
  /** The request that attaches the resource of the row once more, to another session. */
  requestAgain: (row: ResourceRow<Type>) => ResourceParams<Type>
  /** Finds out why the noun of the request cannot be attached. Undefined: it can be, or the request names none. */
  findAbsence: (
    read: Reads,
    context: DetachContext,
    params: ResourceParams<Type>,
  ) => Promise<Absence | undefined>
  /** Describes the session's resources of this kind to the agent, in the same words at every turn. */
  describe: (
    resources: readonly ResourceRow[],
    read: Reads,
    session: SessionRow,
  ) => Promise<PromptPart>
  /** The word of `WORKER_INPUTS` for workers that mount the kind; null: all workers do. */
  workerInput: WorkerInput | null
  /** Removes the rows that a detached resource refers to; null: resources stay until their session is deleted. */
  detach: ((tx: Queries, context: DetachContext, row: ResourceRow<Type>) => Promise<void>) | null
  /** Names several resources, in errors. */
  plural: string
  /** Every path that a resource takes in the sandbox, by its resolved path. */
  pathsOf: (resolvedPath: string) => string[]
}
