import { z } from 'zod'
import {
  CreatedAt,
  Id,
  ListBesideQuery,
  TextList,
  Timestamp,
  extension,
  wholeNumberFrom,
} from './primitives.ts'

/** A stored file without its bytes. [files/metadata] */
export const FileShown = z
  .object({
    id: z.string(),
    type: z.literal('file'),
    filename: z.string(),
    mime_type: z.string().describe('The type of the content, such as `text/plain`.'),
    size_bytes: z.int().describe('The size of the content in bytes.'),
    created_at: CreatedAt,
    downloadable: z.boolean().describe('Whether its content may be downloaded.'),
    expires_at: Timestamp.nullable().describe('When it is deleted by itself, or null.'),
    scope: z
      .object({ type: z.literal('session'), id: z.string() })
      .nullable()
      .describe('The session that it belongs to, or null for a file of the workspace.'),
  })
  .meta({ id: 'FileMetadata', description: 'A stored file, without its bytes.' })
export type FileMetadata = z.infer<typeof FileShown>

/** The text fields of an upload's form. The form also holds the file. */
export const FileFields = z.strictObject({
  session_id: Id.optional().meta(extension('Put the file into this session.')),
  expires_in_seconds: wholeNumberFrom(3600)
    .refine((seconds) => seconds <= 7_776_000, 'must be at most 7776000, which are 90 days')
    .optional()
    .describe('Seconds until it is deleted by itself.'),
})
export type FileFields = z.infer<typeof FileFields>

/** The whole form, for the published description. */
export const FileForm = FileFields.extend({
  file: z.string().meta({ format: 'binary', description: 'The bytes, with a filename.' }),
}).meta({ id: 'FileUploadParams', examples: [{ file: 'some text' }] })

export const FileListQuery = ListBesideQuery.extend({
  scope_id: Id.optional().describe('Only files of this session.'),
  ids: TextList.optional().meta(
    extension('These files, in this order, on one page; one that is absent is left out.'),
  ),
})

/** All outputs that a session has published, on one page. */
export const OutputsShown = z.object({
  data: z.array(
    z
      .object({
        type: z.literal('output'),
        filename: z.string(),
        file_id: z.string(),
        mime_type: z.string().describe('The type of the content, such as `text/plain`.'),
        size_bytes: z.int().describe('The size of the content in bytes.'),
        created_at: CreatedAt,
      })
      .meta({ id: 'Output', description: 'A file that the session has published.' }),
  ),
  has_more: z.literal(false).describe('Always false: the list is whole.'),
})
