import type { Config } from '../../ground/config/config.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import type { Connector, Namer } from '../../ground/core/security/dial.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import { dispatchJob } from './dispatch.ts'
import { announceWebhooks } from './operator.ts'
import { webhookPoster } from './post-delivery.ts'
import { deliveryJob } from './job.ts'
import type { Ground } from '../../ground/ground.ts'

/** After it resolves, the outbox accepts hints. Call `close` after the jobs have stopped. */
export async function openWebhooks(
  { hint, organization }: Config['webhooks'],
  {
    diallers,
    ...deps
  }: Ground & {
    rules: Rules
    diallers: { [whose in Namer]: { connect: Connector<whose> } }
  },
): Promise<{ jobs: Job[]; close: () => Promise<void> }> {
  await deps.databases.prepare((database) =>
    announceWebhooks(database, { organization, isHinting: hint !== undefined }),
  )
  const [letters, hints] = [
    webhookPoster(diallers.tenant.connect),
    webhookPoster(diallers.operator.connect),
  ]
  const posts = { post: letters.post, postHint: hints.post }
  return {
    jobs: [dispatchJob({ ...deps, ...posts, hint }), deliveryJob(deps)],
    async close() {
      await Promise.all([letters.close(), hints.close()])
    },
  }
}
