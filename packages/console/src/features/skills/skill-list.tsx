import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Choices } from '../../components/choices.tsx'
import { Time } from '../../components/figures.tsx'
import { Quiet, ToolLine } from '../../components/layout.tsx'
import { Empty } from '../../components/notices.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { ListedSkill } from '../../lib/api/types.ts'
import { keysOf } from '../../lib/keys-of.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { skillsQuery } from './skills.ts'
import { sourceOf } from './upload.ts'
import { skillWords as own } from './words.ts'

const columns: readonly TableColumn<ListedSkill>[] = [
  {
    name: own.columns.title,
    width: 200,
    isStrong: true,
    show: ({ id, display_title, name }) => (
      <RecordLink to="/skills/$skillId" params={{ skillId: id }}>
        {display_title || name}
      </RecordLink>
    ),
  },
  { name: own.columns.name, width: 160, from: 'split', show: ({ name }) => name },
  {
    name: own.columns.about,
    from: 'drawer',
    show: ({ description }) => <Quiet>{description}</Quiet>,
  },
  {
    name: own.columns.source,
    width: 100,
    show: (skill) => <Quiet>{own.sources[sourceOf(skill)]}</Quiet>,
  },
  {
    name: own.columns.changed,
    width: 100,
    isNumber: true,
    from: 'phone',
    show: ({ updated_at }) => <Time at={updated_at} />,
  },
]

const idOf = ({ id }: ListedSkill): string => id
const sources = keysOf(own.sources).map((value) => ({ value, label: own.sources[value] }))
type ShownSource = (typeof sources)[number]['value']

/** `create` stands where no skill is. */
export function SkillList({
  create,
  onOpen,
}: {
  create: ReactNode
  onOpen: (skill: ListedSkill) => void
}) {
  const [source, setSource] = useState<ShownSource>('all')
  const query = useInfiniteQuery(skillsQuery(source === 'all' ? undefined : source))
  return (
    <>
      <ToolLine>
        <Choices label={own.whichSource} choices={sources} value={source} onChange={setSource} />
      </ToolLine>
      <RecordTable
        label={own.title}
        columns={columns}
        list={listStateOf(query)}
        keyOf={idOf}
        onOpen={onOpen}
        empty={<Empty action={create}>{own.none}</Empty>}
      />
    </>
  )
}
