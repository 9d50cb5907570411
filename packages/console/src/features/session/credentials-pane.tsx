/** Which credentials the calls of a session carried: to which host, how often, and how the last one ended. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button } from '../../components/button.tsx'
import { Time } from '../../components/figures.tsx'
import { MiniTable } from '../../components/inspector.tsx'
import { Quiet, Stack } from '../../components/layout.tsx'
import { Missing } from '../../components/record-page.tsx'
import { Status } from '../../components/status.tsx'
import type { CredentialUse } from '../../lib/api/types.ts'
import { shortId } from '../../lib/format/ids.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { groupsOf } from './credential-groups.ts'
import { credentialUsesQuery } from './session.ts'
import { credentialsWords as own } from './words.ts'

export function CredentialsPane({ session }: { session: string }) {
  const list = listStateOf(useInfiniteQuery(credentialUsesQuery(session)))
  if (!list.rows) return <Missing error={list.error} refetch={list.again} />
  if (list.rows.length === 0) return <Quiet>{own.none}</Quiet>
  return (
    <Stack>
      <MiniTable
        label={own.title}
        heads={[own.host, own.credential, own.calls, own.last, own.status]}
        rows={groupsOf(list.rows).map(({ key, last, status, calls }) => ({
          key,
          cells: [
            <span key="host" title={last.host}>
              {last.host}
            </span>,
            <CredentialLink key="credential" of={last} />,
            calls,
            <Time key="last" at={last.created_at} />,
            status === null ? (
              own.noAnswer
            ) : (
              <Status key="status" tone={status < 400 ? 'done' : 'failed'}>
                {status}
              </Status>
            ),
          ],
        }))}
      />
      {list.more && (
        <Stack gap="normal">
          <Quiet isSmall>{own.counted}</Quiet>
          <div>
            <Button size="small" isBusy={list.isLoadingMore} onClick={list.more}>
              {own.more}
            </Button>
          </div>
        </Stack>
      )}
    </Stack>
  )
}

function CredentialLink({ of: { vault_id, credential_id } }: { of: CredentialUse }) {
  if (vault_id === null || credential_id === null) return own.inline
  return (
    <Link
      to="/vaults/$vaultId"
      params={{ vaultId: vault_id }}
      search={{ credential: credential_id }}
      title={credential_id}
    >
      {shortId(credential_id)}
    </Link>
  )
}
