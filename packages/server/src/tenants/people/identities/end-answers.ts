/** Ends open answers to a token once the token has ended, or gives the workspace no longer. */
import { secondMs } from '@steward/base/settings/kinds.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { OpenAnswers } from '../../../ground/http/open-answers.ts'
import { readAnswerHolder } from '../../../ground/http/open-answers.ts'
import type { Identities } from './identities.ts'

export const endWithTokensJob = ({
  answers,
  identities,
}: {
  answers: OpenAnswers
  identities: Pick<Identities, 'stillOpens'>
}): Job => ({
  name: 'end answers to tokens of identity providers',
  everyMs: secondMs,
  async run() {
    for (const id of answers.keyIds()) {
      const holder = readAnswerHolder(id)
      if (holder.kind !== 'token') continue
      if (!(await identities.stillOpens(holder.hash, holder.tenant))) answers.endAll(id)
    }
  },
})
