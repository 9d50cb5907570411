/** Files of the workspace, as the file helpers of the official OpenAI client upload and read them. */
import { z } from 'zod'
import { FileFields } from '../files.ts'
import { AfterQuery, UnixSeconds, unsupportedField } from './lists.ts'

const Purpose = z.enum(
  ['user_data', 'assistants'],
  unsupportedField('send user_data: files are for sessions'),
)

/** Every field may be missing while the form is being read. */
export const OpenAIFileFields = z.strictObject({
  purpose: Purpose.optional().describe('It is not kept.'),
  'expires_after[anchor]': z.literal('created_at').optional(),
  'expires_after[seconds]': FileFields.shape.expires_in_seconds,
})

export const OpenAIFileForm = OpenAIFileFields.extend({
  file: z.string().meta({ format: 'binary', description: 'The bytes, with a filename.' }),
}).meta({
  id: 'OpenAIFileUploadParams',
  examples: [{ file: 'some text', purpose: 'user_data' }],
})

export const OpenAIFileListQuery = AfterQuery.extend({
  purpose: Purpose.optional().describe('Changes nothing: the purpose of a file is not kept.'),
})

export const OpenAIFileShown = z
  .object({
    id: z.string(),
    object: z.literal('file'),
    bytes: z.int().describe('The size of the file in bytes.'),
    filename: z.string(),
    purpose: z.literal('user_data'),
    status: z.literal('processed'),
    created_at: UnixSeconds,
    expires_at: UnixSeconds.optional().describe(
      'When the file is deleted by itself; absent: never.',
    ),
  })
  .meta({ id: 'OpenAIFile', description: 'A file of the workspace.' })
export type OpenAIFile = z.infer<typeof OpenAIFileShown>
