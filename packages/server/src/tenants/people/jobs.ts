import { minuteMs } from '@steward/base/settings/kinds.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { OpenAnswers } from '../../ground/http/open-answers.ts'
import { readAnswerHolder } from '../../ground/http/open-answers.ts'
import type { Ground } from '../../ground/ground.ts'
import { identityStore } from './identities/store.ts'
import { peopleTopic } from './authenticate.ts'
import { peopleStore } from './store.ts'

/** Interval of the check: neither an expiry nor an operator's command is published. */
const everyMs = 1_000
const mostAtOnce = 500

/** Ends open answers of a person whose sign-in ended, or who is no longer a member. */
export function endWithSignInsJob({
  databases,
  clock,
  bus,
  answers,
}: Ground & { answers: OpenAnswers }): Job {
  const store = peopleStore(databases.control.read)

  async function endInvalid(open: { id: string; signInId: string; tenant: string }[]) {
    const ids = [...new Set(open.map(({ signInId }) => signInId))]
    const valid = await store.validSignIns(ids, clock.now())
    const people = valid.map(({ person_id: person }) => person)
    const members = people.length === 0 ? [] : await store.memberships([...new Set(people)])
    const personOf = new Map(valid.map(({ id, person_id: person }) => [id, person]))
    for (const { id, signInId, tenant } of open) {
      const person = personOf.get(signInId)
      const isMember = members.some(
        (each) => each.person_id === person && each.tenant_id === tenant,
      )
      if (person === undefined || !isMember) answers.endAll(id)
    }
  }

  return {
    name: 'end answers of ended sign-ins',
    everyMs,
    async run() {
      const open = answers.keyIds().flatMap((id) => {
        const held = readAnswerHolder(id)
        return held.kind === 'sign-in' ? [{ id, ...held }] : []
      })
      for (let from = 0; from < open.length; from += mostAtOnce)
        await endInvalid(open.slice(from, from + mostAtOnce))
    },
    start: (runNow) => bus.subscribe(peopleTopic, runNow),
  }
}

/** Removes expired sign-ins, codes, links and invitations, and subjects that nobody has seen for long. */
export const expiredSignInsJob = ({ databases, clock }: Ground): Job => ({
  name: 'remove expired sign-ins',
  everyMs: 10 * minuteMs,
  async run() {
    await databases.control.write(async (tx) => {
      await peopleStore(tx).removeExpired(clock.now())
      await identityStore(tx).forgetUnseen(clock.now())
    })
  },
})
