/** Signed requests of other systems that run a deployment. */
import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { Timestamp } from './primitives.ts'

export const DeploymentTriggerSecret = z
  .object({
    type: z.literal('deployment_trigger_secret'),
    deployment_id: z.string(),
    url: z.string().describe('Where signed requests are sent.'),
    secret: z.string().describe('Signs them, as Standard Webhooks has it. No later answer has it.'),
    previous_secret_expires_at: Timestamp.nullable().describe(
      'Until when the secret before it is valid too. Null where there was none.',
    ),
  })
  .meta({ id: 'DeploymentTriggerSecret', description: 'What another system runs a deployment by.' })
export type DeploymentTriggerSecret = z.infer<typeof DeploymentTriggerSecret>

export const DeploymentTriggerQuery = z.object({
  workspace: z
    .string()
    // A request without a workspace has the same answer as one with an unknown workspace.
    .catch('')
    .describe(`The workspace of the deployment, such as ${exampleIds.workspace}.`),
})
