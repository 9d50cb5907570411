/** One credential: where it goes, whether it works, and what was done with it. Its secret is nowhere. */
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { AskEnding } from '../../components/ask.tsx'
import { Button } from '../../components/button.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { Problem, Quiet, Row } from '../../components/layout.tsx'
import { Missing } from '../../components/record-page.tsx'
import { SessionLink } from '../../components/session-link.tsx'
import {
  FactList,
  FactRow,
  PaneLine,
  PaneLines,
  PaneSection,
  SidePane,
} from '../../components/side-pane.tsx'
import { Status } from '../../components/status.tsx'
import type { VaultCredential } from '../../lib/api/types.ts'
import { shortId } from '../../lib/format/ids.ts'
import { formatDuration } from '../../lib/format/times.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import type { ShownAuth } from './credential-draft.ts'
import { hostOf, nameOf, referenceOf } from './credential-draft.ts'
import { CredentialStatus, destinationText } from './credential-table.tsx'
import { ValidationView } from './validation-view.tsx'
import {
  changesQuery,
  lastUsesQuery,
  useCredentialArchive,
  useCredentialDelete,
  useValidation,
} from './vaults.ts'
import { credentialWords as own } from './words.ts'

const RotateCredential = lazy(async () => ({
  default: (await import('./credential-dialogs.tsx')).RotateCredential,
}))
const ChangeCredential = lazy(async () => ({
  default: (await import('./credential-dialogs.tsx')).ChangeCredential,
}))

type CredentialPaneProps = {
  credential: VaultCredential
  /** Why the vault takes no changes. */
  offBecause: string | undefined
  onClose: () => void
}

export function CredentialPane({ credential, offBecause, onClose }: CredentialPaneProps) {
  const readOnly = useReadOnlyReason()
  const isArchived = credential.archived_at !== null
  const validation = useValidation(credential)
  return (
    <SidePane
      title={nameOf(credential)}
      beside={
        <>
          <CredentialStatus credential={credential} />
          <Id of={credential.id} />
        </>
      }
      onClose={onClose}
    >
      <PaneSection>
        <Facts credential={credential} />
        <CredentialActions
          credential={credential}
          offBecause={readOnly ?? offBecause ?? (isArchived ? own.isArchived : undefined)}
          removeOffBecause={readOnly}
          validation={validation}
          onGone={onClose}
        />
        <Problem text={validation.error?.message} />
      </PaneSection>
      {validation.data && (
        <ValidationView result={validation.data} endpoint={endpointOf(credential)} />
      )}
      <LastUses credential={credential} />
      <History credential={credential} />
    </SidePane>
  )
}

const endpointOf = ({ auth }: VaultCredential): string =>
  auth.type === 'mcp_oauth' && auth.refresh !== null
    ? hostOf(auth.refresh.token_endpoint)
    : own.steps.noEndpoint

const Facts = ({
  credential: { auth, created_at, updated_at },
}: {
  credential: VaultCredential
}) => (
  <FactList>
    <FactRow name={own.facts.to}>
      {auth.type === 'static_bearer' || auth.type === 'mcp_oauth'
        ? auth.mcp_server_url
        : destinationText(auth)}
    </FactRow>
    <FactRow name={own.facts.type}>{auth.type}</FactRow>
    {auth.type === 'mcp_oauth' && <OauthFacts auth={auth} />}
    {auth.type === 'command_secret' && (
      <FactRow name={own.facts.variable}>
        {auth.env_var}{' '}
        <Status tone="asks" title={own.kindHints.command_secret}>
          {own.inSandbox}
        </Status>
      </FactRow>
    )}
    {auth.type === 'environment_variable' && (
      <>
        <FactRow name={own.facts.variable}>{auth.secret_name}</FactRow>
        <FactRow name={own.facts.places}>{placesOf(auth.injection_location)}</FactRow>
      </>
    )}
    {referenceOf(auth) && <FactRow name={own.facts.secret}>{referenceOf(auth)}</FactRow>}
    <FactRow name={own.facts.made}>
      <Time at={created_at} />
    </FactRow>
    <FactRow name={own.facts.changed}>
      <Time at={updated_at} />
    </FactRow>
  </FactList>
)

const placesOf = ({ header, body }: { header: boolean; body: boolean }): string =>
  [...(header ? [own.fields.inHeader] : []), ...(body ? [own.fields.inBody] : [])].join(', ')

const OauthFacts = ({ auth }: { auth: Extract<ShownAuth, { type: 'mcp_oauth' }> }) => (
  <>
    <FactRow name={own.facts.ends}>
      {auth.expires_at === null ? own.neverEnds : whenOf(auth.expires_at)}
    </FactRow>
    <FactRow name={own.facts.renewed}>{auth.refresh?.token_endpoint ?? own.notRenewed}</FactRow>
    {auth.refresh?.scope && <FactRow name={own.facts.scope}>{auth.refresh.scope}</FactRow>}
    {auth.refresh?.client_id && <FactRow name={own.facts.client}>{auth.refresh.client_id}</FactRow>}
  </>
)

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const whenOf = (time: string): string => whole.format(new Date(time))

type ActionsProps = {
  credential: VaultCredential
  offBecause: string | undefined
  removeOffBecause: string | undefined
  validation: ReturnType<typeof useValidation>
  onGone: () => void
}

function CredentialActions(props: ActionsProps) {
  const { credential, offBecause, removeOffBecause, validation, onGone } = props
  const [open, setOpen] = useState<'rotate' | 'change' | 'archive' | 'remove'>()
  const archive = useCredentialArchive(credential)
  const remove = useCredentialDelete(credential)
  const name = nameOf(credential)
  const isOauth = credential.auth.type === 'mcp_oauth'
  const hasSecret = credential.auth.type !== 'agent_identity'
  const close = () => setOpen(undefined)
  return (
    <>
      <Row isWrapped>
        <Button
          isBusy={validation.isPending}
          offBecause={offBecause ?? (isOauth ? undefined : own.onlyOauth)}
          onClick={() => validation.mutate()}
        >
          {own.validate}
        </Button>
        <Button
          offBecause={offBecause ?? (hasSecret ? undefined : own.noSecret)}
          onClick={() => setOpen('rotate')}
        >
          {own.rotate}
        </Button>
        <Button offBecause={offBecause} onClick={() => setOpen('change')}>
          {own.change}
        </Button>
        <Button kind="plain" offBecause={offBecause} onClick={() => setOpen('archive')}>
          {own.archive}
        </Button>
        <Button kind="plain" offBecause={removeOffBecause} onClick={() => setOpen('remove')}>
          {own.remove}
        </Button>
      </Row>
      <Suspense>
        {open === 'rotate' && (
          <RotateCredential
            credential={credential}
            onClose={close}
            onRotated={(isToBeValidated) => {
              close()
              if (isToBeValidated) validation.mutate()
            }}
          />
        )}
        {open === 'change' && <ChangeCredential credential={credential} onClose={close} />}
      </Suspense>
      <AskEnding
        asked={open}
        own={own}
        name={name}
        archive={archive}
        remove={remove}
        onClose={close}
        onRemoved={onGone}
      />
    </>
  )
}

function LastUses({ credential }: { credential: VaultCredential }) {
  const { data, error, refetch } = useQuery(lastUsesQuery(credential.id))
  return (
    <PaneSection title={own.uses}>
      {!data ? (
        <Missing error={error} refetch={refetch} />
      ) : data.length === 0 ? (
        <Quiet>{own.noUse}</Quiet>
      ) : (
        <PaneLines>
          {data.map((use) => (
            <PaneLine
              key={use.id}
              sign={<Time at={use.created_at} />}
              about={[
                use.method,
                use.host,
                ...(use.ms === null ? [] : [formatDuration(use.ms)]),
                ...(use.refreshed ? [own.withRenewal] : []),
              ].join(' · ')}
              end={
                use.status === null ? (
                  own.noStatus
                ) : (
                  <Status tone={use.status < 400 ? 'done' : 'failed'}>{use.status}</Status>
                )
              }
            >
              {use.session_id === null ? (
                own.byProbe
              ) : (
                <SessionLink id={use.session_id} title={shortId(use.session_id)} />
              )}
            </PaneLine>
          ))}
        </PaneLines>
      )}
    </PaneSection>
  )
}

const changeNames: Readonly<Record<string, string>> = own.changes

function History({ credential }: { credential: VaultCredential }) {
  const { data } = useQuery(changesQuery(credential.id))
  if (!data || data.length === 0) return null
  return (
    <PaneSection title={own.history}>
      <PaneLines>
        {data.map((each) => (
          <PaneLine
            key={each.id}
            about={
              each.session_id === null ? (
                each.api_key_id !== null && (
                  <>
                    {own.byKey} {shortId(each.api_key_id)}
                  </>
                )
              ) : (
                <SessionLink id={each.session_id} title={own.inASession} />
              )
            }
            end={<Time at={each.created_at} />}
          >
            {changeNames[each.change] ?? each.change}
          </PaneLine>
        ))}
      </PaneLines>
    </PaneSection>
  )
}
