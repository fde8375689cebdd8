// The drawing of a lineage: placed in layers, drawn by React Flow. Nothing but its screen loads that library.
import { Background, Controls, Handle, MiniMap, Position, ReactFlow } from '@xyflow/react';
import type { Edge, Node, NodeProps } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { inert } from '../parts/inert.js';
import { codeWords } from '../words/kinds.js';
import type { Box, Drawn } from './lineage.rules.js';
import { placed } from './lineage.placing.js';
import { HEIGHT, WIDTH } from './lineage.size.js';

type BoxNode = Node<{ readonly box: Box }, 'box'>;

function BoxView({ data: { box } }: NodeProps<BoxNode>): ReactNode {
  return (
    <div className={`box ${box.state} ${box.isFound ? 'found' : ''}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <b>{inert(box.title)}</b>
      {box.lines.map((line) => (
        <span key={line}>{inert(line)}</span>
      ))}
      <small>{codeWords(box.state)}</small>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

const NODE_TYPES = { box: BoxView };

/** The run that was asked about, which comes first, and what it leads to at once: where somebody begins to read. */
function nearest({ boxes, arrows }: Drawn): { id: string }[] {
  const own = boxes[0]?.id;
  const near = arrows.filter(({ from, to }) => from === own || to === own).flatMap(({ from, to }) => [from, to]);
  return [...new Set(own === undefined ? near : [own, ...near])].map((id) => ({ id }));
}

/** What React Flow draws. */
function drawingOf({ boxes, arrows }: Drawn): { readonly nodes: BoxNode[]; readonly edges: Edge[] } {
  const places = placed({ ids: boxes.map(({ id }) => id), arrows });
  const nodes = boxes.map((box): BoxNode => ({
    id: box.id,
    type: 'box',
    position: places[box.id] ?? { x: 0, y: 0 },
    width: WIDTH,
    height: HEIGHT,
    data: { box },
    ariaLabel: `${inert(box.title)}, ${codeWords(box.state)}: open or close its run`,
  }));
  const edges = arrows.map(({ id, from, to, kind }): Edge => ({
    id,
    source: from,
    target: to,
    className: kind,
    focusable: false,
  }));
  return { nodes, edges };
}

export function Graph({
  shown,
  onToggle,
}: {
  readonly shown: Drawn;
  readonly onToggle: (run: string) => void;
}): ReactNode {
  const { nodes, edges } = useMemo(() => drawingOf(shown), [shown]);
  return (
    <section className="graph" aria-label="Graph of what stands on what">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        onNodeClick={(_event, node) => {
          onToggle(node.data.box.run);
        }}
        nodesDraggable={false}
        nodesConnectable={false}
        onlyRenderVisibleElements
        minZoom={0.05}
        fitView
        fitViewOptions={{ nodes: nearest(shown), minZoom: 0.5, maxZoom: 1 }}
        proOptions={{ hideAttribution: false }}
      >
        <Background />
        <MiniMap pannable zoomable />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}
