import { Readable } from 'node:stream'
import { DepartureQuery, PersonDeleted } from '@steward/protocol/people.ts'
import { forbidden, notFound } from '../../ground/core/errors.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import type { Principal } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { deletePerson, showKeys } from '../../tenants/members/departure.ts'
import { peopleStore } from '../../tenants/people/store.ts'
import { allWorkspaces, exportPerson, ownWorkspaces } from './export.ts'

const people = section('Rules of a company', ['user'], '/v1/ext/people')
const linesType = 'application/x-ndjson'

export function peopleDataRoutes({ databases, clock }: Ground): Route[] {
  const { control } = databases

  /** True for an operator. Throws for anybody else but the person: nobody learns who is there. */
  async function checkCaller(principal: Principal, person: string): Promise<boolean> {
    if (principal.kind !== 'user') throw forbidden('only a person who has signed in reaches this')
    const isOperator = await peopleStore(control.read).isOperator(principal.userId)
    if (!isOperator && principal.userId !== person) throw notFound('person', person)
    return isOperator
  }

  return [
    people.post(
      '/:id/export',
      {
        summary: 'Export what is held about a person, as lines of JSON',
        description:
          'For the person, and for an operator. The person gets the rows of the workspaces whose member the person is; an operator those of all.',
        answer: 'bytes',
        mediaTypes: [linesType],
      },
      async ({ principal, params: { id } }) => {
        const isOperator = await checkCaller(principal, id)
        const lines = await exportPerson(
          databases,
          id,
          isOperator ? allWorkspaces : ownWorkspaces(id),
        )
        await control.write(async () =>
          auditChange({ type: 'user', id, after: { exported: isOperator ? 'all' : 'own' } }),
        )
        return {
          reply: 'raw',
          status: 200,
          headers: [
            ['content-type', linesType],
            ['content-disposition', `attachment; filename="${id}.jsonl"`],
          ],
          body: Readable.from(lines),
        }
      },
    ),
    people.delete(
      '/:id',
      {
        summary: 'Remove the data of a person',
        description:
          'For an operator. The account, its sign-ins, memberships and views go at once, and the name goes from what the person has made. The last owner of a workspace, and a person whom a hold keeps, are refused with 409.',
        query: DepartureQuery,
        answer: PersonDeleted,
      },
      async ({ principal, params: { id }, query }) => {
        if (!(await checkCaller(principal, id)))
          throw forbidden(
            'only an operator removes other people: your own account is DELETE /v1/ext/me',
          )
        const options = { revokesKeys: query.revoke_keys === 'true', now: clock.now() }
        const deleted = await control.write((tx) => deletePerson(tx, id, options))
        return { id, type: 'person_deleted', keys: showKeys(deleted), revoked: deleted.revoked }
      },
    ),
  ]
}
