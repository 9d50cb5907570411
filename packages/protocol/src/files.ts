import { z } from 'zod'
import { Id, ListQuery, TextList, Timestamp, wholeNumberFrom } from './primitives.ts'

/** A stored file without its bytes. [files/metadata] */
export const FileShown = z.object({
  id: z.string(),
  type: z.literal('file'),
  filename: z.string(),
  mime_type: z.string(),
  size_bytes: z.int(),
  created_at: Timestamp,
  downloadable: z.boolean(),
  expires_at: Timestamp.nullable(),
  scope: z.object({ type: z.literal('session'), id: z.string() }).nullable(),
})
export type FileMetadata = z.infer<typeof FileShown>

/** The texts of an upload's form; the file beside them is no text. */
export const FileFields = z.strictObject({
  session_id: Id.optional(),
  expires_in_seconds: wholeNumberFrom(3600)
    .refine((seconds) => seconds <= 7_776_000, 'at most 7776000, which are 90 days')
    .optional(),
})
export type FileFields = z.infer<typeof FileFields>

/** What a description of the form shows. */
export const FileForm = FileFields.extend({ file: z.string().meta({ format: 'binary' }) })

export const FileListQuery = ListQuery.extend({
  scope_id: Id.optional(),
  /** Those that are there, in the order asked for, on one page. */
  ids: TextList.optional(),
})

/** What a session has published; all of it at once. */
export const OutputsShown = z.object({
  data: z.array(
    z.object({
      type: z.literal('output'),
      filename: z.string(),
      file_id: z.string(),
      mime_type: z.string(),
      size_bytes: z.int(),
      created_at: Timestamp,
    }),
  ),
  has_more: z.literal(false),
})
