import type { Database } from '../../ground/database/database.ts'

/** Where a job works on a thing of a tenant. The signal aborts when the job stops. */
export type JobPlace = { db: Database; tenant: string; signal: AbortSignal }
