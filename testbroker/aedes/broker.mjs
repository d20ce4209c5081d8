// A 3.1.1-only broker on the loopback port given as the first argument; prints "listening" once it does.
import net from 'node:net';
import { Aedes } from 'aedes';

const aedes = await Aedes.createBroker();
const server = net.createServer(aedes.handle);
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'));
process.stdin.on('end', () => process.exit(0)).resume();
