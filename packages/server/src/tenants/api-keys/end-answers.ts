/** Ends the answers that a key has open once the key is revoked or has expired. */
import type { Job } from '../../ground/core/time/jobs.ts'
import type { OpenAnswers } from '../../ground/http/open-answers.ts'
import { readAnswerHolder } from '../../ground/http/open-answers.ts'
import type { Ground } from '../../ground/ground.ts'
import { revokedKeysTopic } from './authenticate.ts'
import { apiKeyStore } from './store.ts'

/** Interval in which keys with open answers are looked up. Neither an expiry nor an operator's command is published. */
const everyMs = 1_000
const mostAtOnce = 500

export function endWithKeysJob({
  databases,
  bus,
  clock,
  answers,
}: Ground & {
  answers: OpenAnswers
}): Job {
  async function run(): Promise<boolean> {
    const open = answers.keyIds().filter((id) => readAnswerHolder(id).kind === 'key')
    for (let from = 0; from < open.length; from += mostAtOnce) {
      const some = open.slice(from, from + mostAtOnce)
      const valid = await apiKeyStore(databases.control.read).validOf(some, clock.now())
      for (const keyId of some) if (!valid.has(keyId)) answers.endAll(keyId)
    }
    return true
  }

  return {
    name: 'end answers of invalid keys',
    everyMs,
    run,
    start: () => bus.subscribe(revokedKeysTopic, ({ id }) => answers.endAll(String(id))),
  }
}
