import { useQuery } from '@tanstack/react-query'
import { Button } from '../../components/button.tsx'
import { Time } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/notices.tsx'
import { SmallSelect } from '../../components/select.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { Table } from '../../components/table.tsx'
import type { Member, Role } from '../../lib/api/types.ts'
import { roles, useNoAdminReason, useNoOwnerReason } from '../../lib/rights.ts'
import { words } from '../../lib/words.ts'
import { isLastOwner, membersQuery } from './members.ts'
import { memberWords as own } from './words.ts'

type MemberTableProps = {
  /** The id of who looks, where it is a person. */
  me: string | undefined
  onRole: (member: Member, role: Role) => void
  onRemove: (member: Member) => void
  onLeave: () => void
}

const idOf = ({ id }: Member): string => id

export function MemberTable(props: MemberTableProps) {
  const query = useQuery(membersQuery)
  const columns = useColumns(props, query.data ?? [])
  return (
    <Loaded query={query}>
      {(members) =>
        members.length === 0 ? (
          <Empty>{own.none}</Empty>
        ) : (
          <Table label={own.title} columns={columns} rows={members} keyOf={idOf} />
        )
      }
    </Loaded>
  )
}

function useColumns(
  { me, onRole, onRemove, onLeave }: MemberTableProps,
  members: readonly Member[],
): TableColumn<Member>[] {
  const noAdmin = useNoAdminReason()
  const noOwner = useNoOwnerReason()
  /** Why the member has to stay as it is. */
  const stayOf = (member: Member): string | undefined => {
    if (isLastOwner(member, members)) return own.lastOwner
    return member.role === 'owner' ? noOwner : undefined
  }
  return [
    {
      name: own.columns.name,
      isStrong: true,
      show: ({ id, name, email }) => (
        <span title={email} dir="auto">
          {name}
          {id === me && <Quiet> · {own.you}</Quiet>}
        </span>
      ),
    },
    { name: own.columns.email, from: 'drawer', show: ({ email }) => email },
    {
      name: own.columns.role,
      width: 120,
      show: (member) => {
        const off = noAdmin ?? stayOf(member)
        return off === undefined ? (
          <SmallSelect
            label={own.roleOf(member.name)}
            choices={roles.map((value) => ({
              value,
              label: words.roles[value],
              ...(value === 'owner' && noOwner !== undefined && { offBecause: noOwner }),
            }))}
            value={member.role}
            onChange={(role) => role !== member.role && onRole(member, role)}
          />
        ) : (
          <Button kind="plain" size="small" offBecause={off}>
            {words.roles[member.role]}
          </Button>
        )
      },
    },
    {
      name: own.columns.since,
      width: 80,
      isNumber: true,
      from: 'phone',
      show: ({ created_at: at }) => <Time at={at} />,
    },
    {
      name: own.columns.actions,
      width: 108,
      isNumber: true,
      isNameHidden: true,
      show: (member) =>
        member.id === me ? (
          <Button kind="plain" size="small" offBecause={lastOwnerOf(member)} onClick={onLeave}>
            {own.leave}
          </Button>
        ) : (
          <Button
            kind="plain"
            size="small"
            title={own.removeOf(member.name)}
            offBecause={noAdmin ?? stayOf(member)}
            onClick={() => onRemove(member)}
          >
            {own.remove}
          </Button>
        ),
    },
  ]

  function lastOwnerOf(member: Member): string | undefined {
    return isLastOwner(member, members) ? own.lastOwner : undefined
  }
}
