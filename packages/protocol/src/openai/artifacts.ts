import { z } from 'zod'
import { Id } from '../primitives.ts'
import { AfterQuery, UnixSeconds } from './lists.ts'

export const OpenAIArtifactListQuery = AfterQuery.extend({
  environment_id: Id.optional().describe('Only artifacts of this environment.'),
})

export const OpenAIArtifactShown = z
  .object({
    id: z.string(),
    object: z.literal('agent.session.artifact'),
    session_id: z.string(),
    turn_id: z.string(),
    environment_id: z.string(),
    path: z.string().describe('Where the agent has written it.'),
    size_bytes: z.int().describe('The size of the file in bytes.'),
    created_at: UnixSeconds,
  })
  .meta({ id: 'OpenAIArtifact', description: 'A file that a session has published.' })
export type OpenAIArtifact = z.infer<typeof OpenAIArtifactShown>
