//! The words of this program's objects; those of NetScaler's other commands are in `catalogue`.

use super::Object;
use crate::config::attribute::Resource;
use crate::config::{HaPartner, SslService, SslServiceGroup};

/// What the words of an object mean; old forms without the group included (`spec/cli.md` 3).
pub(super) const OBJECTS: &[(&str, Object)] = &[
    ("server", Object::Server),
    ("service", Object::Service),
    ("serviceGroup", Object::ServiceGroup),
    ("lb vserver", Object::LbVserver),
    ("lb monitor", Object::LbMonitor),
    ("lb parameter", Object::LbParameter),
    ("ns feature", Object::NsFeature),
    ("ns ip", Object::NsIp),
    ("ns mode", Object::NsMode),
    ("ns config", Object::NsConfig),
    ("ns hostName", Object::NsHostName),
    ("ns param", Object::NsParam),
    ("ns spParams", Object::NsSpParams),
    ("lb group", Object::LbGroup),
    ("serviceGroupMember", Object::ServiceGroupMember),
    ("netProfile", Object::NetProfile),
    ("system user", Object::SystemUser),
    ("system group", Object::SystemGroup),
    ("system cmdPolicy", Object::SystemCmdPolicy),
    ("system parameter", Object::SystemParameter),
    ("cs vserver", Object::CsVserver),
    ("cs policy", Object::CsPolicy),
    ("cs action", Object::CsAction),
    ("ssl certKey", Object::SslCertKey),
    ("ssl vserver", Object::SslVserver),
    (SslService::OBJECT, Object::SslService),
    (SslServiceGroup::OBJECT, Object::SslServiceGroup),
    ("lb profile", Object::LbProfile),
    (HaPartner::OBJECT, Object::HaPartner),
    ("vserver", Object::LbVserver),
    ("monitor", Object::LbMonitor),
    ("feature", Object::NsFeature),
    ("ip", Object::NsIp),
    ("mode", Object::NsMode),
    ("config", Object::NsConfig),
];
