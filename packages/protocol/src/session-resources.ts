import { z } from 'zod'
import { Id, Line, ListQuery, Timestamp } from './primitives.ts'

/** A file that a session brings in. contract.md 1.4 */
export const FileResource = z.strictObject({
  type: z.literal('file'),
  file_id: Id,
  mount_path: Line.max(1024).nullish(),
})
export type FileResource = z.infer<typeof FileResource>

export const ResourceListQuery = ListQuery

export const ResourceShown = z.object({
  id: z.string(),
  type: z.literal('file'),
  file_id: z.string(),
  mount_path: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type SessionResource = z.infer<typeof ResourceShown>

/** Repositories alone have something to change. */
export const ResourceUpdate = z.strictObject({ authorization_token: Line.min(1) })
