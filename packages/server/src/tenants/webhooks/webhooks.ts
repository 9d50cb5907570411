import type { Config } from '../../ground/config/config.ts'
import type { Connector, Namer } from '../../ground/core/dial.ts'
import type { Sweep } from '../../ground/core/sweep.ts'
import type { DispatchDeps } from './dispatch.ts'
import { dispatching } from './dispatch.ts'
import { announceWebhooks } from './operator.ts'
import { posting } from './post.ts'
import { webhookSweep } from './sweep.ts'

/** Sends until it is closed; from its resolving on, hints are written down. */
export async function openWebhooks(
  { hint, organization }: Config['webhooks'],
  {
    outside,
    ...deps
  }: Omit<DispatchDeps, 'post' | 'hint' | 'postHint'> & {
    outside: { [whose in Namer]: { connect: Connector<whose> } }
  },
): Promise<Sweep> {
  for (const database of deps.databases.all())
    await announceWebhooks(database, { organization, isHinting: hint !== undefined })
  const [letters, hints] = [posting(outside.tenant.connect), posting(outside.operator.connect)]
  const posts = { post: letters.post, postHint: hints.post }
  const running = [dispatching({ ...deps, ...posts, hint }), webhookSweep(deps)]
  return {
    async close() {
      await Promise.all(running.map((each) => each.close()))
      await Promise.all([letters.close(), hints.close()])
    },
  }
}
