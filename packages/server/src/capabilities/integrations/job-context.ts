import type { Database } from '../../ground/database/database.ts'

/** The database and the tenant that a job works on. The signal aborts when the job stops. */
export type JobContext = { db: Database; tenant: string; signal: AbortSignal }
