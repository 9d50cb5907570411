/** A vault: its credentials, and beside them the one that was opened. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { AskEnding } from '../../components/ask.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { Check } from '../../components/choices.tsx'
import { Id } from '../../components/figures.tsx'
import { ToolLine, WhereWide } from '../../components/layout.tsx'
import { MoreMenu } from '../../components/more-menu.tsx'
import { Banner, Empty, Skeleton } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { RecordPage } from '../../components/record-page.tsx'
import { ListAndPane, SidePane } from '../../components/side-pane.tsx'
import type { Vault, VaultCredential } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { words } from '../../lib/words.ts'
import { CredentialPane } from './credential-pane.tsx'
import { CredentialTable } from './credential-table.tsx'
import { credentialsQuery, useVaultArchive, useVaultDelete, vaultQuery } from './vaults.ts'
import { credentialWords, vaultWords as own } from './words.ts'

const RenameVault = lazy(async () => ({
  default: (await import('./vault-dialogs.tsx')).RenameVault,
}))

type VaultPageProps = {
  id: string
  /** The credential that is open. */
  credential: string | undefined
  onOpen: (credential: string | undefined) => void
  onDeleted: () => void
}

export const VaultPage = (props: VaultPageProps) => (
  <RecordPage
    title={own.title}
    crumbs={<Link to="/vaults">{own.title}</Link>}
    query={useQuery(vaultQuery(props.id))}
  >
    {(vault) => <OpenVault {...props} vault={vault} />}
  </RecordPage>
)

function OpenVault({ vault, credential, onOpen, onDeleted }: VaultPageProps & { vault: Vault }) {
  const isArchived = vault.archived_at !== null
  const [withArchived, setWithArchived] = useState(isArchived)
  const list = listStateOf(useInfiniteQuery(credentialsQuery(vault.id, withArchived)))
  const opened = list.rows?.find(({ id }) => id === credential)
  const add = isArchived ? undefined : (
    <ButtonLink kind="primary" to="/vaults/$vaultId/new" params={{ vaultId: vault.id }}>
      {credentialWords.add}
    </ButtonLink>
  )
  return (
    <Page
      title={vault.display_name}
      crumbs={<Link to="/vaults">{own.title}</Link>}
      beside={
        <WhereWide>
          <Id of={vault.id} />
        </WhereWide>
      }
      actions={
        <>
          <VaultActions vault={vault} onDeleted={onDeleted} />
          {add}
        </>
      }
    >
      {isArchived && <Banner title={own.isArchived} />}
      <ToolLine>
        <Check
          label={words.list.archivedToo}
          isOn={withArchived}
          onChange={(isOn) => setWithArchived(isOn)}
        />
      </ToolLine>
      <ListAndPane
        list={
          <CredentialTable
            list={list}
            opened={credential}
            add={add}
            onOpen={({ id }) => onOpen(id)}
          />
        }
        pane={
          credential === undefined ? undefined : (
            <OpenedCredential
              key={credential}
              credential={opened}
              isKnown={list.rows !== undefined}
              offBecause={isArchived ? own.isArchived : undefined}
              onClose={() => onOpen(undefined)}
            />
          )
        }
      />
    </Page>
  )
}

function OpenedCredential({
  credential,
  isKnown,
  offBecause,
  onClose,
}: {
  credential: VaultCredential | undefined
  isKnown: boolean
  offBecause: string | undefined
  onClose: () => void
}) {
  if (credential)
    return <CredentialPane credential={credential} offBecause={offBecause} onClose={onClose} />
  return (
    <SidePane title={credentialWords.title} onClose={onClose}>
      {isKnown ? <Empty>{credentialWords.gone}</Empty> : <Skeleton />}
    </SidePane>
  )
}

function VaultActions({ vault, onDeleted }: { vault: Vault; onDeleted: () => void }) {
  const [open, setOpen] = useState<'rename' | 'archive' | 'remove'>()
  const archive = useVaultArchive(vault.id)
  const remove = useVaultDelete(vault.id)
  const readOnly = useReadOnlyReason()
  const close = () => setOpen(undefined)
  return (
    <>
      <MoreMenu
        items={[
          ...(vault.archived_at === null
            ? [
                { label: own.rename, offBecause: readOnly, run: () => setOpen('rename') },
                { label: own.archive, offBecause: readOnly, run: () => setOpen('archive') },
              ]
            : []),
          {
            label: own.remove,
            isDanger: true,
            offBecause: readOnly,
            run: () => setOpen('remove'),
          },
        ]}
      />
      <Suspense>{open === 'rename' && <RenameVault vault={vault} onClose={close} />}</Suspense>
      <AskEnding
        own={own}
        name={vault.display_name}
        asked={open}
        onClose={close}
        archive={archive}
        remove={remove}
        onRemoved={onDeleted}
      />
    </>
  )
}
