import { minuteMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { OpenAnswers } from '../../ground/http/open-answers.ts'
import { readSignInAnswerKey } from '../../ground/http/open-answers.ts'
import { changedPeople } from './authenticate.ts'
import { peopleStore } from './store.ts'

type Deps = { databases: Databases; clock: Clock }

/** Nobody publishes an expiry, or what a command of the operator does. */
const everyMs = 1_000
const mostAtOnce = 500

/** Ends what a person has open once the sign-in has ended, or the person is no member any more. */
export function endWithSignInsJob({
  databases,
  clock,
  bus,
  answers,
}: Deps & { bus: Bus; answers: Pick<OpenAnswers, 'keyIds' | 'endAll'> }): Job {
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
        const held = readSignInAnswerKey(id)
        return held ? [{ id, ...held }] : []
      })
      for (let from = 0; from < open.length; from += mostAtOnce)
        await endInvalid(open.slice(from, from + mostAtOnce))
      return true
    },
    start: (runNow) => bus.subscribe(changedPeople, runNow),
  }
}

/** Removes expired sign-ins, codes, links and invitations. */
export const expiredSignInsJob = ({ databases, clock }: Deps): Job => ({
  name: 'remove expired sign-ins',
  everyMs: 10 * minuteMs,
  async run() {
    await databases.control.write((tx) => peopleStore(tx).removeExpired(clock.now()))
    return true
  },
})
