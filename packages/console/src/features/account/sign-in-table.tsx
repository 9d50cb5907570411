import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { Button } from '../../components/button.tsx'
import { Time, TimeLeft } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Loaded } from '../../components/loaded.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { Table } from '../../components/table.tsx'
import type { SignIn } from '../../lib/api/types.ts'
import { browserOf } from '../../lib/format/user-agents.ts'
import { say } from '../../lib/toasts.ts'
import { useSignOut } from './account.ts'
import { signInsQuery, useSignInEnd } from './sign-ins.ts'
import { accountWords as own } from './words.ts'

const nameOf = ({ user_agent: agent }: SignIn): string =>
  agent === null ? own.unknownBrowser : browserOf(agent)
const idOf = ({ id }: SignIn): string => id

export function SignInTable() {
  const query = useQuery(signInsQuery)
  const signOut = useSignOut()
  const [ending, setEnding] = useState<SignIn>()
  const columns: TableColumn<SignIn>[] = [
    {
      name: own.columns.browser,
      isStrong: true,
      show: (each) => (
        <span title={each.user_agent ?? undefined}>
          {nameOf(each)}
          {each.current && <Quiet> · {own.here}</Quiet>}
        </span>
      ),
    },
    { name: own.columns.address, width: 170, from: 'drawer', show: ({ ip_address: at }) => at },
    {
      name: own.columns.since,
      width: 80,
      isNumber: true,
      from: 'phone',
      show: ({ created_at: at }) => <Time at={at} />,
    },
    {
      name: own.columns.ends,
      width: 80,
      isNumber: true,
      from: 'phone',
      show: ({ expires_at: at }) => <TimeLeft at={at} isExpected />,
    },
    {
      name: own.columns.actions,
      width: 108,
      isNumber: true,
      isNameHidden: true,
      show: (each) =>
        each.current ? (
          <Button
            kind="plain"
            size="small"
            isBusy={signOut.isPending}
            onClick={() => signOut.mutate()}
          >
            {own.signOut}
          </Button>
        ) : (
          <Button
            kind="plain"
            size="small"
            title={own.endOf(nameOf(each))}
            onClick={() => setEnding(each)}
          >
            {own.end}
          </Button>
        ),
    },
  ]
  return (
    <>
      <Loaded query={query}>
        {(signIns) => <Table label={own.signIns} columns={columns} rows={signIns} keyOf={idOf} />}
      </Loaded>
      {ending && <EndDialog of={ending} onClose={() => setEnding(undefined)} />}
    </>
  )
}

function EndDialog({ of: signIn, onClose }: { of: SignIn; onClose: () => void }) {
  const end = useSignInEnd()
  return (
    <AskBefore
      title={own.endOf(nameOf(signIn))}
      verb={own.endVerb}
      isDanger
      action={end}
      onClose={onClose}
      onConfirm={() =>
        end.mutate(signIn.id, {
          onSuccess: () => {
            say({ kind: 'done', text: own.ended })
            onClose()
          },
        })
      }
    >
      {own.endText}
    </AskBefore>
  )
}
