import type { buildConnector } from 'undici'
import type { Config } from '../config.ts'
import type { Sweep } from '../core/sweep.ts'
import type { DispatchDeps } from './dispatch.ts'
import { dispatching } from './dispatch.ts'
import { announceWebhooks } from './operator.ts'
import { posting } from './post.ts'
import { webhookSweep } from './sweep.ts'

/** Sends until it is closed; from its resolving on, hints are written down. */
export async function openWebhooks(
  { hint, organization }: Config['webhooks'],
  { connect, ...deps }: Omit<DispatchDeps, 'post' | 'hint'> & { connect: buildConnector.connector },
): Promise<Sweep> {
  for (const database of deps.databases.all())
    await announceWebhooks(database, { organization, isHinting: hint !== undefined })
  const letters = posting(connect)
  const running = [dispatching({ ...deps, hint, post: letters.post }), webhookSweep(deps)]
  return {
    async close() {
      await Promise.all(running.map((each) => each.close()))
      await letters.close()
    },
  }
}
