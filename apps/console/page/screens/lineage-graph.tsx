// The drawing of a lineage: laid out in layers by a worker, drawn by React Flow. A part of its own: nothing else loads these libraries.
import { Background, Controls, Handle, MiniMap, Position, ReactFlow } from '@xyflow/react';
import type { Edge, Node, NodeProps } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { inert } from '../parts/inert.js';
import { Waiting } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import type { Box, Drawn } from './lineage.rules.js';
import { placesOf } from './lineage.layout.js';
import { HEIGHT, WIDTH } from './lineage.size.js';
import type { Places } from './lineage.placing.js';

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

export default function Graph({
  shown,
  onToggle,
}: {
  readonly shown: Drawn;
  readonly onToggle: (run: string) => void;
}): ReactNode {
  const [places, setPlaces] = useState<{ readonly of: Drawn; readonly at: Places } | null>(null);
  useEffect(() => {
    let isWanted = true;
    void placesOf(shown).then((at) => {
      if (isWanted) setPlaces({ of: shown, at });
    });
    return () => {
      isWanted = false;
    };
  }, [shown]);
  if (places === null) return <Waiting what="the layout" />;
  const { boxes, arrows } = places.of;
  const nodes = boxes.map((box): BoxNode => ({
    id: box.id,
    type: 'box',
    position: places.at[box.id] ?? { x: 0, y: 0 },
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
        fitViewOptions={{ nodes: nearest(places.of), minZoom: 0.5, maxZoom: 1 }}
        proOptions={{ hideAttribution: false }}
      >
        <Background />
        <MiniMap pannable zoomable />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}
